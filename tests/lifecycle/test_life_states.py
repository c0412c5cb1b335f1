"""Any calls in any order, against a plain model: what is found, counted, due, pending, and never seen again.

``HIPPO_LONG=1`` tries many more and longer lives.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from doors import holding, shown
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from index_tables import Anew

from hippo_async import Hippocampus, Settings, Turn, blocking
from hippo_async.errors import Forgotten, NotFound
from hippo_async.lives.layers import subject_of
from hippo_async.lives.reviews import DAYS
from hippo_async.testing import FakeClock

LONG = os.environ.get("HIPPO_LONG") == "1"
SCOPES = st.sampled_from([(), ("ann",)])
GRACE = timedelta(hours=24)
WHICH = st.integers(0, 30)
STALE = timedelta(days=7)
TAGS = ["walks"]
"""Of all that is told, so that maintenance makes a summary and a trend of it."""


@dataclass(eq=False)
class Said:
    """One record as the model knows it; ``due`` is when it is erased, if it is to be forgotten."""

    record_id: str
    text: str
    scope: tuple[str, ...]
    event_id: str | None = None
    key: str | None = None
    task: tuple[str, int] | None = None
    at: datetime | None = None
    demoted: bool = False
    count: int = 1
    step: int = 0
    review: datetime | None = None
    due: datetime | None = None
    erased: bool = False


class Life(RuleBasedStateMachine):
    """A memory and what it ought to say."""

    @initialize()
    def begin(self) -> None:
        self.base = Path(tempfile.mkdtemp())
        self.clock = FakeClock()
        self.said: list[Said] = []
        self.number = 0
        self.memory = self._opened()

    def teardown(self) -> None:
        if hasattr(self, "memory"):
            blocking(self.memory.close)()
            shutil.rmtree(self.base)

    def _opened(self) -> Hippocampus:
        memory = Hippocampus(
            self.base / "store",
            agent_id="tester",
            embedder="none",
            maintenance=False,
            witness=self.base / "witness",
            clock=self.clock,
            settings=Settings.from_mapping({"raw": {"mode": "all"}, "delete": {"grace_hours": 24}}),
        )
        blocking(memory.open)()
        return memory

    def _new_text(self) -> str:
        self.number += 1
        return f"quokka{self.number}zz is said"

    def _pick(self, which: int, scope: tuple[str, ...], *, pending: bool = False) -> Said | None:
        mine = [one for one in self.said if one.scope == scope and (not pending or one.due is not None)]
        return mine[which % len(mine)] if mine else None

    def _visible(self, scope: tuple[str, ...]) -> list[Said]:
        return [one for one in self.said if one.scope == scope and one.due is None and not one.erased]

    # what is done

    @rule(scope=SCOPES)
    def remember(self, scope: tuple[str, ...]) -> None:
        text = self._new_text()
        kept = blocking(self.memory.remember)(text, scope=scope, tags=TAGS)
        assert (kept.count, kept.is_new) == (1, True)
        review = self.clock.now() + timedelta(days=DAYS[0])
        self.said.append(Said(kept.record.record_id, text, scope, kept.event_id, review=review))

    @rule(scope=SCOPES, which=WHICH)
    def remember_again(self, scope: tuple[str, ...], which: int) -> None:
        known = self._pick(which, scope)
        if known is None or known.event_id is None:
            return
        if known.due is not None:
            with pytest.raises(Forgotten):
                blocking(self.memory.remember)(known.text, scope=scope, tags=TAGS)
        elif not known.erased:
            known.count += 1
            assert (
                blocking(self.memory.remember)(known.text.upper(), scope=scope, tags=TAGS).count
                == known.count
            )

    @rule(scope=SCOPES, with_key=st.booleans())
    def capture(self, scope: tuple[str, ...], with_key: bool) -> None:
        text = self._new_text()
        key = f"key {self.number}" if with_key else None
        receipt = self.memory.capture(text, scope=scope, session="s", key=key, tags=TAGS)
        blocking(self.memory.flush)()
        record = blocking(_awaited)(receipt)
        self.said.append(Said(record.record_id, text, scope, key=key))

    @rule(scope=SCOPES, which=WHICH)
    def capture_again(self, scope: tuple[str, ...], which: int) -> None:
        known = self._pick(which, scope)
        if known is None or known.key is None:
            return
        if known.erased and known.due is not None:
            with pytest.raises(Forgotten):
                blocking(self.memory.record)(known.text, scope=scope, role="user", key=known.key)
        elif not known.erased:
            again = blocking(self.memory.record)(known.text, scope=scope, role="user", key=known.key)
            assert again.record_id == known.record_id

    @rule(scope=SCOPES, task=st.sampled_from(["move", "tax"]), progress=st.sampled_from([0, 50, 100]))
    def checkpoint(self, scope: tuple[str, ...], task: str, progress: int) -> None:
        text = self._new_text()
        blocking(self.memory.checkpoint)(task, text, progress=progress, scope=scope)
        [newest] = blocking(self.memory.latest)(n=1, scope=scope)
        assert newest.text == text
        now = self.clock.now()
        self.said.append(Said(newest.record_id, text, scope, task=(task, progress), at=now))

    @rule(scope=SCOPES, which=WHICH)
    def reinforce(self, scope: tuple[str, ...], which: int) -> None:
        known = self._pick(which, scope)
        if known is None:
            return
        if known.event_id is None or known.due is not None or known.erased:
            with pytest.raises(NotFound):
                blocking(self.memory.reinforce)(known.record_id, scope=scope)
            return
        known.step += 1
        days = DAYS[known.step] if known.step < len(DAYS) else None
        known.review = None if days is None else self.clock.now() + timedelta(days=days)
        assert blocking(self.memory.reinforce)(known.record_id, scope=scope).confirmed == known.step

    @rule(scope=SCOPES, most=st.integers(1, 4))
    def fold(self, scope: tuple[str, ...], most: int) -> None:
        left = [one for one in self.said if one.scope == scope and not one.erased][-most:]
        if not left:
            return
        turns = [Turn("user", one.text, 9, record_id=one.record_id) for one in left]
        record = blocking(self.memory.fold)(turns, scope=scope)
        assert not any(one.text in record.text for one in left if one.due is not None)

    @rule(scope=SCOPES, which=WHICH, elsewhere=st.booleans())
    def forget(self, scope: tuple[str, ...], which: int, elsewhere: bool) -> None:
        known = self._pick(which, scope)
        if known is None:
            return
        asked = ("ben",) if elsewhere else scope
        if known.erased or elsewhere:
            with pytest.raises(NotFound):
                blocking(self.memory.forget)(known.record_id, scope=asked)
            return
        blocking(self.memory.forget)(known.event_id or known.record_id, scope=scope)
        known.due = known.due or self.clock.now() + GRACE

    @rule(scope=SCOPES, which=WHICH)
    def restore(self, scope: tuple[str, ...], which: int) -> None:
        known = self._pick(which, scope)
        if known is None:
            return
        if known.due is None:
            with pytest.raises(NotFound):
                blocking(self.memory.restore)(known.record_id, scope=scope)
            return
        name = known.event_id or known.record_id
        assert blocking(self.memory.restore)(name, scope=scope) is not known.erased
        known.due = None
        if known.erased:
            self.said.remove(known)

    @rule()
    def maintain(self) -> None:
        due = [one for one in self.said if one.due and one.due <= self.clock.now() and not one.erased]
        report = blocking(self.memory.run_maintenance)()
        assert report.failed == ()
        assert {step.name: step.did for step in report.steps}["forget"]["records"] == len(due)
        for one in due:
            one.erased = True
        for scope in ((), ("ann",)):
            last = next((one for one in reversed(self._visible(scope)) if one.task), None)
            if last and last.task and last.task[1] < 100 and last.at and last.at < self.clock.now() - STALE:
                last.demoted = True
        if due:
            assert holding(self.base / "store", *(one.text.split()[0] for one in due)) == []
        assert blocking(Anew(self.memory).differences)("quokka", "said") == []

    @rule(index=st.booleans())
    def reopen(self, index: bool) -> None:
        blocking(self.memory.close)()
        if index:
            shutil.rmtree(self.base / "store/index")
        self.memory = self._opened()

    @rule(hours=st.sampled_from([0.5, 13, 24, 24 * 8]))
    def time_passes(self, hours: float) -> None:
        self.clock.advance(hours * 3600)

    @rule(hours=st.sampled_from([1, 30]))
    def the_clock_is_set_back(self, hours: float) -> None:
        self.clock.set(self.clock.now() - timedelta(hours=hours))

    # what must be so

    @invariant()
    @precondition(lambda self: hasattr(self, "memory"))
    def all_is_as_the_model_says(self) -> None:
        for scope in ((), ("ann",)):
            mine = [one for one in self.said if one.scope == scope]
            blocking(self._check)(scope, mine)

    async def _check(self, scope: tuple[str, ...], mine: list[Said]) -> None:
        memory = self.memory
        visible = self._visible(scope)
        tasks: dict[str, Said] = {one.task[0]: one for one in visible if one.task}
        current = [one for one in visible if not one.task or tasks[one.task[0]] is one]
        newest = await memory.latest(n=500, scope=scope)
        told = [record for record in reversed(newest) if not record.is_fold and subject_of(record) is None]
        assert [record.record_id for record in told] == [one.record_id for one in current]
        everything = await shown(memory, "quokka said", clock=self.clock, scope=scope)
        hidden = [one for one in self.said if one.due is not None]
        assert not [one.text for one in hidden if one.text.split()[0] in everything.split()]
        pending = {one.record_id: one.erased for one in await memory.pending_deletes(scope=scope)}
        assert pending == {one.record_id: one.erased for one in mine if one.due is not None}
        due = [one.record_id for one in visible if one.review and one.review <= self.clock.now()]
        assert sorted(state.record_id for state in await memory.reviews(scope=scope)) == sorted(due)
        last = next((one for one in reversed(visible) if one.task), None)
        going = last.task if last and last.task and last.task[1] < 100 and not last.demoted else None
        task = await memory.active_task(scope=scope)
        assert (task and (task.task_id, task.progress)) == going
        assert (await memory.verify_chain()).intact


async def _awaited(receipt: Any) -> Any:
    return await receipt


TestLives = Life.TestCase
TestLives.settings = settings(
    max_examples=300 if LONG else 12,
    stateful_step_count=60 if LONG else 30,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestLives.pytestmark = [pytest.mark.timeout(3600 if LONG else 120)]
