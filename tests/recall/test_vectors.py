from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippo_async.errors import InvalidInput
from hippo_async.recall.vectors import VectorMatrix

EXACT = st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0])
"""Values whose products and sums are exact, so that equals are equal."""

rows = st.lists(st.tuples(EXACT, EXACT, EXACT), max_size=40)


def matrix_of(values: list[tuple[float, ...]], seqs: list[int]) -> VectorMatrix:
    matrix = VectorMatrix(3)
    matrix.add(seqs, np.array(values, dtype=np.float32).reshape(-1, 3))
    return matrix


@given(values=rows, query=st.tuples(EXACT, EXACT, EXACT), limit=st.integers(0, 50), data=st.data())
def test_the_search_is_exact(
    values: list[tuple[float, ...]], query: tuple[float, ...], limit: int, data: st.DataObject
) -> None:
    """Equal to comparing every vector in plain Python, with any part of the records allowed."""
    seqs = data.draw(st.permutations(range(0, 2 * len(values), 2)))
    allowed = data.draw(st.none() | st.lists(st.integers(0, 100), unique=True))
    found = matrix_of(values, seqs).search(
        np.array(query, dtype=np.float32),
        allowed=None if allowed is None else np.array(allowed, dtype=np.int64),
        limit=limit,
    )
    expected = [
        (seq, sum(a * b for a, b in zip(row, query, strict=True)))
        for seq, row in zip(seqs, values, strict=True)
        if allowed is None or seq in allowed
    ]
    assert found == sorted(expected, key=lambda pair: (-pair[1], -pair[0]))[:limit]


@given(sizes=st.lists(st.integers(0, 700), max_size=6))
def test_rows_added_in_any_portions_are_all_there(sizes: list[int]) -> None:
    """Across every growth of the buffer."""
    total = sum(sizes)
    rows = np.eye(1, 3, dtype=np.float32).repeat(total, axis=0) * np.arange(total, dtype=np.float32)[:, None]
    matrix, start = VectorMatrix(3), 0
    for size in sizes:
        matrix.add(range(start, start + size), rows[start : start + size])
        start += size
    found = matrix.search(np.array([1, 0, 0], dtype=np.float32), limit=total + 1)
    assert len(matrix) == total
    assert found == [(seq, float(seq)) for seq in reversed(range(total))]


def test_an_empty_matrix_finds_nothing() -> None:
    assert VectorMatrix(3).search(np.zeros(3, dtype=np.float32), limit=5) == []
    nothing_allowed = np.empty(0, dtype=np.int64)
    assert (
        matrix_of([(1, 0, 0)], [0]).search(np.ones(3, dtype=np.float32), allowed=nothing_allowed, limit=5)
        == []
    )


@pytest.mark.parametrize("shape", [(2, 4), (1, 3), (3, 3), (6,)])
def test_rows_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    matrix = VectorMatrix(3)
    with pytest.raises(InvalidInput, match="2 vectors of 3 dimensions"):
        matrix.add([0, 1], np.zeros(shape, dtype=np.float32))
    assert len(matrix) == 0
