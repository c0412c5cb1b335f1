"""How long a recall takes as memories grow in number, in how much room, and whether the loop stands still.

The journal, the index and the recall are the real ones, from the question asked on the event loop to the
verified hits. What is made up is the talk (:mod:`hippo_bench.talk`) and its vectors, which cost nothing to
make and are put into the index directly.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from time import sleep

import numpy as np

from hippo_bench import asked, ours, talk
from hippo_bench.measure import Samples, in_thread, interleave
from hippo_bench.report import Line, Result, Wanted
from hippo_bench.scale import LARGE, MILLION, Scale

MS = 1e3
STALL = Wanted(5.0, at_least=False)
MEMORY = Wanted(600.0, at_least=False)
SHARE = Wanted(0.25, at_least=False)
"""Growth well under linear: ten times the memories may take two and a half times as long."""

_CHILD = Path(__file__).with_name("asked.py")
_AGAINST = {"exact": "comparing all vectors, in numpy", "fts5": "FTS5 alone, the same words"}


@dataclass(slots=True)
class Side:
    """One kind of :mod:`hippo_bench.asked` over one store, and what each of its runs took."""

    kind: str
    store: Path
    questions: int
    runs: list[asked.Run] = field(default_factory=list)

    def run(self) -> float:
        """Ask all questions in a process of its own; return the median in seconds."""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, str(_CHILD), self.kind, str(self.store), str(self.questions)]
        answer = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
        self.runs.append(asked.Run(**json.loads(answer.stdout)))
        return statistics.median(self.runs[-1].seconds)

    def percentile(self, share: float) -> Samples:
        """Return the time in ms below which this share of the questions of each run was answered."""
        return self.each(lambda run: float(np.quantile(run.seconds, share)) * MS)

    def each(self, figure: Callable[[asked.Run], float]) -> Samples:
        """Return a figure of each run."""
        return Samples(tuple(map(figure, self.runs)))


async def run(scale: Scale, folder: Path) -> Result:
    """Ask the same questions of memories of each size, in fresh processes."""
    lines: list[Line] = []
    medians: dict[int, Samples] = {}
    for records in scale.recalled:
        store = folder / str(records)
        await asyncio.to_thread(make, store, records)
        sides = {kind: Side(kind, store, scale.questions) for kind in ("recall", *_AGAINST)}
        await interleave(scale.recall_rounds, **{kind: in_thread(side.run) for kind, side in sides.items()})
        lines += _lines(records, sides)
        medians[records] = sides["recall"].percentile(0.5)
    lines += _growth(medians)
    notes = (
        f"{scale.questions} questions a run, half of {talk.ASKED} rare words, half messages of {talk.WORDS};",
        "each is asked once, as in life: what would find its words read already, pays for reading them.",
        "vectors of 384 dimensions; what it takes to embed the question is left out on both sides.",
    )
    return Result("recall: a question to many memories", tuple(lines), notes)


def make(store: Path, records: int) -> None:
    """Make a memory of so many turns, with journal, index and vectors. Blocks."""
    with closing(ours.journal(store)) as journal:
        journal.open()
        for start in range(0, records, ours.GROUP):
            journal.append(talk.drafts(start, min(ours.GROUP, records - start))).result()
        origin = {"journal_id": journal.journal_id, "generation": journal.generation}
    asyncio.run(_opened(store))
    _put_vectors(store, records, origin)
    asyncio.run(_prepared(store, records))


async def _opened(store: Path) -> None:
    async with ours.memory(store):
        pass


def _put_vectors(store: Path, records: int, origin: dict[str, object]) -> None:
    from hippo_async.files import Files
    from hippo_async.index import Index

    embedder = talk.WordVectors()
    with closing(Index(store / "index", files=Files(), **origin)) as index:
        index.open()
        for start in range(0, records, ours.GROUP):
            texts = [draft.content for draft in talk.drafts(start, min(ours.GROUP, records - start))]
            rows = embedder.embed_documents(texts)
            index.put_vectors(embedder.model_id, [(start + 1 + at, row) for at, row in enumerate(rows)])


async def _prepared(store: Path, records: int) -> None:
    """Open it until what it builds in the background for a great many vectors is there."""
    from hippo_async.recall import nearest

    async with ours.memory(store, embedder=talk.WordVectors()) as memory:
        await memory.recall("warm")
        if records > nearest.HELD:
            await asyncio.wait_for(asyncio.to_thread(_prepared_file, store), timeout=300)


def _prepared_file(store: Path) -> None:
    while not list(store.glob("index/*/*.faiss")):
        sleep(0.1)


def _lines(records: int, sides: dict[str, Side]) -> list[Line]:
    recall = sides["recall"]
    timed = [
        Line(
            what=f"recall, {records:,} memories, {name}",
            against=label,
            theirs=sides[kind].percentile(share),
            ours=recall.percentile(share),
            unit="ms",
            figure=recall.percentile(share).per(sides[kind].percentile(share)),
        )
        for name, share in (("p50", 0.5), ("p99", 0.99))
        for kind, label in _AGAINST.items()
    ]
    beats = [
        Line(
            what=f"recall, {records:,} memories: {what}",
            against="the same loop beside a thread that hashes, for as long",
            theirs=recall.each(theirs).times(MS),
            ours=recall.each(ours).times(MS),
            unit="ms",
            figure=recall.each(ours).high * MS,
            figure_unit="ms",
            wanted=wanted,
        )
        for what, ours, theirs, wanted in (
            (
                "longest stand-still of the loop",
                lambda run: run.stall,
                lambda run: run.others_stall,
                STALL if records >= LARGE else None,
            ),
            (
                "the same without waits for a core",
                lambda run: run.held,
                lambda run: run.others_held,
                None,
            ),
        )
    ]
    peak = Line(
        what=f"recall, {records:,} memories: peak memory",
        against="the process that compares all vectors",
        theirs=sides["exact"].each(lambda run: run.peak_mib),
        ours=recall.each(lambda run: run.peak_mib),
        unit="MiB",
        figure=recall.each(lambda run: run.peak_mib).high,
        figure_unit="MiB",
        wanted=MEMORY if records >= MILLION else None,
    )
    return [*timed, *beats, peak]


def _growth(medians: dict[int, Samples]) -> list[Line]:
    sizes = list(medians)
    return [
        Line(
            what=f"recall, p50: growth with {large // small} times the memories, against linear",
            against=f"{small:,} memories",
            theirs=medians[small],
            ours=medians[large],
            unit="ms",
            figure=medians[large].per(medians[small]) * small / large,
            wanted=SHARE,
        )
        for small, large in pairwise(sizes)
    ]
