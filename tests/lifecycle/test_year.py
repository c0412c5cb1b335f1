"""A year of a memory, day by day: 20,000 memories told, forgotten, reviewed and looked after (L9-L24).

Every day the numbers are counted, the chain is walked, and every table of the index is compared with an index
that is made of the journal alone: anew whenever something was erased, brought up to the day otherwise.

By default 40 days, in which all that happens in a year happens; ``HIPPO_LONG=1`` lives through the whole
year, in under five minutes, and prints it day by day (``pytest -s``).
"""

from __future__ import annotations

import os
import random
import sqlite3
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from doors import holding
from index_tables import Anew

from hippo_async import Hippocampus, Settings
from hippo_async.files import Files
from hippo_async.index.filters import TOLD
from hippo_async.lives.layers import Layer, subject_of
from hippo_async.lives.states import Task
from hippo_async.records import Record, Turn
from hippo_async.testing import FakeClock, ScriptedOps

LONG = os.environ.get("HIPPO_LONG") == "1"
DAYS = 365 if LONG else 40
A_DAY = 55
BEGIN = datetime(2025, 1, 1, tzinfo=UTC)
QUARTER = timedelta(hours=6)
CAP = 100
FORGETTING_DAYS = 7

TOPICS = ("sailing", "chess", "garden", "bread", "piano", "oslo", "taxes", "running", "books", "cat")
DOING = (
    "we talked of",
    "I was busy with",
    "nothing new about",
    "Anna asked about",
    "let us decide on",
    "enough of",
)


@dataclass
class Life:
    """A memory, and what its owner knows of it: what was told, what is to go, and what is gone."""

    memory: Hippocampus
    clock: FakeClock
    store: Path
    chance: random.Random = field(default_factory=lambda: random.Random(7))
    there: dict[str, str] = field(default_factory=dict)
    remembered: list[str] = field(default_factory=list)
    going: dict[str, tuple[str, datetime]] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)
    tasks: set[str] = field(default_factory=set)
    told: int = 0
    sizes: list[int] = field(default_factory=list)
    happened: list[str] = field(default_factory=list)

    async def live(self, day: int) -> None:
        """Live through one day: talk, work, forget, and four rounds of maintenance."""
        self.happened = []
        for quarter in range(4):
            await self._talk(day, A_DAY // 4 + (quarter < A_DAY % 4))
            if quarter == 1:
                await self._work(day)
            if quarter == 2 and day % FORGETTING_DAYS == 0:
                await self._forget()
            self.clock.advance(QUARTER.total_seconds())
            report = await self.memory.run_maintenance("cron")
            assert report.failed == ()
            self._take_note({step.name: step.did for step in report.steps})

    async def _talk(self, day: int, times: int) -> None:
        receipts = []
        for number in range(times):
            topic, doing = self.chance.choice(TOPICS), self.chance.choice(DOING)
            self.told += 1
            text = f"{doing} {topic}, quokka{self.told}zz, in the {self.chance.randrange(400)}th place"
            if number % 11 == 3:
                record = (await self.memory.remember(text, tags=[topic])).record
                self.remembered.append(record.record_id)
                self.there[record.record_id] = text
            else:
                role = "assistant" if number % 2 else "user"
                receipts.append(
                    self.memory.capture(text, role=role, session=f"day {day}", tags=[topic], key=text)
                )
        await self.memory.flush()
        records = [await receipt for receipt in receipts]
        self.there.update({record.record_id: record.text for record in records})
        folded = [Turn(one.role or "", one.text, 20, record_id=one.record_id) for one in records[:6]]
        await self.memory.fold(folded)

    async def _work(self, day: int) -> None:
        """Get on with a task for some days, leave it for some, and confirm what is up for review."""
        if day % 20 < 8:
            name = f"task {day // 20}"
            await self.memory.checkpoint(name, f"Day {day} of {name}.", progress=day % 20 * 10)
            self.tasks.add(name)
        for state in (await self.memory.reviews())[:3]:
            await self.memory.reinforce(state.record_id)
        again = self.there.get(self.chance.choice(self.remembered)) if self.remembered else None
        if again is not None:
            [topic] = [topic for topic in TOPICS if f" {topic}," in again]
            assert not (await self.memory.remember(again, tags=[topic])).is_new

    async def _forget(self) -> None:
        for name in self.chance.sample(sorted(self.there), 3):
            pending = await self.memory.forget(name)
            self.going[name] = (self.there.pop(name), datetime.fromisoformat(pending.due))
        back = self.chance.choice(sorted(self.going))
        if self.going[back][1] > self.clock.now():
            assert await self.memory.restore(back)
            self.there[back] = self.going.pop(back)[0]

    def _take_note(self, did: dict[str, object]) -> None:
        due = [name for name, (_, when) in self.going.items() if when <= self.clock.now()]
        erased = [self.going.pop(name)[0].split(", ")[1] for name in due]
        if erased:
            assert holding(self.store, *erased) == []
        self.gone += erased
        for name, numbers in did.items():
            made = {key: n for key, n in dict(numbers).items() if n}  # type: ignore[call-overload]
            if name in ("forget", "tasks", "months", "trends", "topics") and made:
                self.happened.append(f"{name} {made}")

    # what holds every day

    async def check(self, day: int) -> None:
        """Check all that has to hold at the end of any day."""
        memory, library = self.memory, self.memory._running.library
        await memory.flush()
        assert await library.run(library.about, count_told) == len(self.there) + len(self.tasks)
        chain = await memory.verify_chain()
        assert chain.intact
        for text in self.chance.sample(
            self.gone + [text for text, _ in self.going.values()], k=min(3, len(self.gone))
        ):
            await self._check_unseen(text.split(", ")[1] if ", " in text else text)
        name = self.chance.choice(sorted(self.there))
        found = [
            hit.record.record_id for hit in await memory.recall(self.there[name].split(", ")[1], top_k=5)
        ]
        assert name in found
        strong = await memory.active_set()
        assert len(strong) == min(CAP, len(self.there) + len(self.tasks))
        assert await memory.active_task() == await self._task_in_progress(day)
        months = {subject.name for one in await self._memos() if (subject := subject_of(one))}
        over = months_before(self.clock.now())
        assert months <= over if self.going else months == over, "a memo is hidden with what is to go"
        self.sizes.append(sum(path.stat().st_size for path in self.store.rglob("*") if path.is_file()))

    async def _check_unseen(self, word: str) -> None:
        memory = self.memory
        texts = [hit.record.text for hit in await memory.recall(word, top_k=20)]
        texts += [record.text for record in await memory.semantic(limit=200)]
        texts += [(await memory.brief(word)).text, *(hit.record.text for hit in await memory.active_set())]
        assert not any(word in text for text in texts)

    async def _task_in_progress(self, day: int) -> Task | None:
        """A task is in progress from its first day until seven days after its last word."""
        found = await self.memory.active_task()
        stale = day % 20 - 7 >= 7 if day % 20 >= 8 else False
        assert (found is None) == stale, f"day {day}"
        return found

    async def _memos(self) -> list[Record]:
        made = await self.memory.semantic(limit=500)
        return [one for one in made if (subject := subject_of(one)) and subject.layer is Layer.MONTH]

    def __str__(self) -> str:
        size = f"{self.sizes[-1] / 1e6:.1f} MB"
        numbers = f"{self.told:,} told, {len(self.there):,} there, {len(self.gone)} erased, {size}"
        return f"{self.clock.now():%Y-%m-%d} {numbers}  {'; '.join(self.happened)}"


def count_told(db: sqlite3.Connection) -> int:
    [count] = db.execute("\n".join(("SELECT count(*) FROM records AS r WHERE", TOLD))).fetchone()
    return int(count)


def months_before(now: datetime) -> set[str]:
    months = (f"{BEGIN.year + n // 12}-{n % 12 + 1:02}" for n in range(24))
    return {month for month in months if month < f"{now:%Y-%m}"}


@pytest.mark.timeout(600)
async def test_a_year_of_talk_leaves_what_it_should_and_nothing_that_it_should_not(tmp_path: Path) -> None:
    clock = FakeClock(BEGIN)
    settings = Settings.from_mapping({"raw.mode": "all", "active_set.cap": CAP, "raw.retention_days": 10})
    memory = Hippocampus(
        tmp_path / "store",
        embedder="none",
        witness=None,
        clock=clock,
        maintenance=False,
        settings=settings,
        files=Files(ScriptedOps(syncing=False)),
    )
    async with memory:
        life, anew = Life(memory, clock, tmp_path / "store"), Anew(memory)
        for day in range(DAYS):
            await life.live(day)
            await life.check(day)
            assert await anew.differences(*TOPICS, "quokka7zz", "anna") == []
            print(life)
        assert life.told == DAYS * A_DAY
        assert len(life.gone) > DAYS // FORGETTING_DAYS
        half = life.sizes[DAYS // 2]
        assert life.sizes[-1] - half < 1.25 * half, "the second half takes no more room than the first"
