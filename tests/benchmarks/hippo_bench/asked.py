"""Asks a store questions in a process of its own: ``asked.py KIND FOLDER QUESTIONS`` prints JSON."""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import hashlib
import json
import sqlite3
import sys
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hippo_bench import ours, talk
from hippo_bench.child import peak_mib

if TYPE_CHECKING:
    from hippo_async import Hippocampus

_SCHEDULED = Path("/proc/thread-self/schedstat")

BEAT = 0.001
WARM = 2
LIMIT = 200
"""What each half of a recall gives the ranking to choose from."""


@dataclasses.dataclass(frozen=True, slots=True)
class Run:
    """How long each question took, how late the worst heartbeat was meanwhile, and the peak memory.

    ``held`` leaves out of each heartbeat the time in which its thread could have run and had no core: what
    is left the process did to itself, or the host to a virtual machine. The others are of a thread that
    computes without the interpreter for as long as all questions took: what any loop bears here.
    """

    seconds: list[float]
    stall: float = 0.0
    held: float = 0.0
    others_stall: float = 0.0
    others_held: float = 0.0
    peak_mib: float = 0.0


def texts(count: int) -> list[str]:
    """Return the questions, short ones and whole messages in turn."""
    return [talk.message(number) if number % 2 else talk.question(number) for number in range(count)]


def recall(store: Path, count: int) -> Run:
    """Ask the memory, as a caller on the event loop waits for it."""
    return asyncio.run(_recall(store, count))


async def _recall(store: Path, count: int) -> Run:
    async with ours.memory(store, embedder=talk.WordVectors()) as memory:
        for text in texts(WARM):
            await memory.recall(text)
        await memory._running._warmer.run(lambda: None)  # until it has learned what was said last
        gc.collect()
        gc.freeze()  # a collection takes as long as the heap of the whole process is large, not ours alone
        questions, seconds = texts(count), list[float]()  # to make up questions takes the loop some ms
        asking = await _beats_during(_ask_all(memory, questions, seconds))
        others = await _beats_during(asyncio.to_thread(_hash_for, sum(seconds)))
    return Run(seconds, *_worst(asking), *_worst(others))


def _hash_for(seconds: float) -> None:
    """Keep a core busy in C, for a millisecond or two at a time."""
    data = bytes(1 << 20)
    end = perf_counter() + seconds
    while perf_counter() < end:
        hashlib.sha256(data)


async def _ask_all(memory: Hippocampus, questions: Sequence[str], seconds: list[float]) -> None:
    for text in questions:
        begin = perf_counter()
        await memory.recall(text, top_k=10)
        seconds.append(perf_counter() - begin)


class Beat(NamedTuple):
    """How late a heartbeat was, and for how long of that its thread had no core to run on."""

    late: float
    without_core: float


def _worst(beats: Sequence[Beat]) -> tuple[float, float]:
    return max(beat.late for beat in beats), max(beat.late - beat.without_core for beat in beats)


async def _beats_during(work: Coroutine[Any, Any, None]) -> list[Beat]:
    beats: list[Beat] = []
    heart = asyncio.create_task(_beat(beats))
    await work
    heart.cancel()
    return beats


async def _beat(beats: list[Beat]) -> None:
    while True:
        begin, waited = perf_counter(), _waited_for_a_core()
        await asyncio.sleep(BEAT)
        beats.append(Beat(perf_counter() - begin - BEAT, _waited_for_a_core() - waited))


def _waited_for_a_core() -> float:
    """Return for how long this thread could have run and did not, so far; 0 where Linux does not say."""
    try:
        return int(_SCHEDULED.read_text().split()[1]) / 1e9
    except OSError:
        return 0.0


def exact(store: Path, count: int) -> Run:
    """Compare the question with every vector, all of them in memory: nothing but numpy."""
    with _database(store) as db:
        vectors = db.execute("SELECT vector FROM vectors ORDER BY seq")
        (records,) = db.execute("SELECT count(*) FROM vectors").fetchone()
        rows = np.empty((records, talk.WordVectors().dim), dtype=np.float32)
        for at, (vector,) in enumerate(vectors):
            rows[at] = np.frombuffer(vector, dtype="<f4")
    queries = talk.WordVectors().embed_queries(texts(count))
    return _timed([lambda query=query: _nearest(rows, query) for query in queries])


def _nearest(rows: np.ndarray, query: np.ndarray) -> np.ndarray:
    cosines = rows @ query
    best = np.argpartition(cosines, -min(LIMIT, len(cosines)))[-LIMIT:]
    return best[np.argsort(-cosines[best])]


def fts5(store: Path, count: int) -> Run:
    """Search the same words in the same table, with the ranking of SQLite."""
    from hippo_async.index.analyzer import query_terms
    from hippo_async.index.words import match_expression

    query = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?"
    matches = [match_expression(list(dict.fromkeys(query_terms(text)))) for text in texts(count)]
    with _database(store) as db:
        return _timed([lambda match=match: db.execute(query, (match, LIMIT)).fetchall() for match in matches])


def _database(store: Path) -> sqlite3.Connection:
    [path] = store.glob("index/gen-*/index.sqlite")
    return sqlite3.connect(path)


def _timed(questions: list[Callable[[], object]]) -> Run:
    questions[0]()
    seconds = []
    for question in questions:
        begin = perf_counter()
        question()
        seconds.append(perf_counter() - begin)
    return Run(seconds)


KINDS = {"recall": recall, "exact": exact, "fts5": fts5}


if __name__ == "__main__":
    run = KINDS[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]))
    print(json.dumps(dataclasses.asdict(dataclasses.replace(run, peak_mib=peak_mib()))))
