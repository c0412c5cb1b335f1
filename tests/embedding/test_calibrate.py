"""The mean cosine of a model, from a sample of its vectors."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippo_async.embedding.calibrate import mean_cosine


@given(st.integers(2, 12), st.integers(2, 9), st.integers(0, 1000))
def test_it_is_the_mean_over_all_pairs(count: int, dim: int, seed: int):
    rows = np.random.default_rng(seed).normal(size=(count, dim)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    pairs = [float(one @ other) for one, other in itertools.combinations(rows, 2)]
    assert mean_cosine(rows) == pytest.approx(np.mean(pairs), abs=1e-5)
