"""Reading on where the last run left off: the same anchors, and never a day too few."""

from __future__ import annotations

import asyncio
import errno
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from anchored_days import (
    AGENT,
    JOURNAL,
    Noted,
    anchored,
    cancelled_at,
    ledger_in,
    noon,
    noted,
    numbered,
    run,
    source,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from hippo_async.anchors import AnchorRun, Ledger, Source, publish_due
from hippo_async.anchors.cursor import Cursor, read_cursor
from hippo_async.files import Files
from hippo_async.testing import ScriptedOps, SimulatedDisk, each_failure

RECORDS = noted("2026-03-01", "2026-03-02", "2026-03-03", "2026-03-04")
LATER = noted("2026-03-01", "2026-03-02", "2026-03-03", "2026-03-04", "2026-03-04", "2026-03-05")
DATES = ["2026-03-01", "2026-03-02", "2026-03-03"]


@dataclass
class Journal:
    """A journal that notes from where it was read, and which records it gave."""

    records: Sequence[Noted]
    journal_id: str = JOURNAL
    asked: list[int] = field(default_factory=list)
    read: list[int] = field(default_factory=list)

    def run(self, ledger: Ledger, day: str) -> AnchorRun:
        """One run at noon of a day; notes begin anew."""
        self.asked, self.read = [], []
        return asyncio.run(publish_due(Source(self.journal_id, self._read), ledger, (), noon(day)))

    def _read(self, after: int) -> Iterator[Noted]:
        self.asked.append(after)
        for record in numbered(self.records, after=after):
            self.read.append(record.seq)
            yield record


def days_in(ledger: Ledger) -> dict[str, bytes]:
    return {name: (ledger.folder / f"{name}.json").read_bytes() for name in ledger.dates()}


def cursor_of(ledger: Ledger) -> Path:
    return ledger.folder / "CURSOR.json"


@pytest.fixture
def begun(ledger: Ledger) -> Ledger:
    """A ledger that was brought up to the third of March; the record of the fourth waits."""
    run(RECORDS, ledger, noon("2026-03-04"))
    assert ledger.dates() == DATES
    return ledger


# --- what is read ---------------------------------------------------------------------------------


def test_a_later_run_reads_from_the_first_record_without_an_anchor_on(begun: Ledger) -> None:
    journal = Journal(LATER)
    assert journal.run(begun, "2026-03-05").anchored == ("2026-03-04",)
    assert (journal.asked, journal.read) == ([2], [3, 4, 5])
    assert begun.read("2026-03-04").anchor_v2 == anchored("2026-03-04", LATER).anchor_v2
    journal.run(begun, "2026-03-06")
    assert journal.read == [5]


def test_nothing_but_that_record_is_read_when_no_day_is_missing(begun: Ledger) -> None:
    journal, kept = Journal(LATER), cursor_of(begun).read_bytes()
    assert journal.run(begun, "2026-03-04").anchored == ()
    assert (journal.asked, journal.read) == ([2], [3])
    assert cursor_of(begun).read_bytes() == kept


def test_when_all_days_have_their_anchor_the_last_record_is_read_again(ledger: Ledger) -> None:
    journal = Journal(RECORDS)
    journal.run(ledger, "2026-03-09")
    assert journal.run(ledger, "2026-03-11").anchored == ("2026-03-09", "2026-03-10")
    assert journal.read == [3]


def test_empty_days_are_counted_from_the_first_record_without_reading_it(begun: Ledger) -> None:
    assert Journal(RECORDS).run(begun, "2026-03-07").anchored == ("2026-03-04", "2026-03-05", "2026-03-06")


def test_a_record_dated_ahead_is_kept_in_view_until_its_day_is_over(ledger: Ledger) -> None:
    journal = Journal(noted("2026-03-01", "2026-03-09", "2026-03-02", "2026-03-03"))
    journal.run(ledger, "2026-03-03")
    journal.run(ledger, "2026-03-04")
    assert journal.read == [1, 2, 3]
    assert journal.run(ledger, "2026-03-10").anchored[-1] == "2026-03-09"
    assert ledger.read("2026-03-09").anchor.count == 1


def test_a_time_that_names_no_day_is_not_waited_for(ledger: Ledger) -> None:
    odd = Noted("00" * 16, "2026-02-30T10:00:00.000000Z")
    journal = Journal([odd, *noted("2026-03-01"), odd, *noted("2026-03-02")])
    journal.run(ledger, "2026-03-02")
    journal.run(ledger, "2026-03-03")
    assert journal.read == [3]


def test_an_old_day_that_comes_late_gets_its_anchor(begun: Ledger) -> None:
    journal = Journal([*RECORDS, *noted("2026-02-10", "2026-03-02")])
    assert journal.run(begun, "2026-03-05").anchored == ("2026-02-10", "2026-03-04")


def test_a_journal_without_a_day_leaves_no_cursor(ledger: Ledger) -> None:
    Journal([Noted("00" * 16, "")]).run(ledger, "2026-03-02")
    Journal([]).run(ledger, "2026-03-02")
    assert not cursor_of(ledger).exists()


# --- when it is not believed ----------------------------------------------------------------------

REPAIRED = [*LATER[:3], *(replace(record, record_id="ab" * 16) for record in LATER[3:])]
Damage = Callable[[Ledger], object]
GROUNDS: dict[str, tuple[Damage, Journal]] = {
    "missing": (lambda ledger: cursor_of(ledger).unlink(), Journal(LATER)),
    "empty": (lambda ledger: cursor_of(ledger).write_bytes(b""), Journal(LATER)),
    "cut": (
        lambda ledger: cursor_of(ledger).write_bytes(cursor_of(ledger).read_bytes()[:-2]),
        Journal(LATER),
    ),
    "zeros": (lambda ledger: cursor_of(ledger).write_bytes(bytes(300)), Journal(LATER)),
    "another journal's": (lambda _: None, Journal(LATER, journal_id="b6" * 16)),
    "an anchor is gone": (lambda ledger: (ledger.folder / "2026-03-02.json").unlink(), Journal(LATER)),
    "an anchor more": (
        lambda ledger: ledger.add(anchored("2026-02-27").anchor_v2),
        Journal(LATER),
    ),
    "another record there": (lambda _: None, Journal(REPAIRED)),
    "no record there": (lambda _: None, Journal(LATER[:3])),
}


@pytest.mark.parametrize("ground", GROUNDS)
def test_a_cursor_with_anything_against_it_costs_one_whole_reading(begun: Ledger, ground: str) -> None:
    spoil, journal = GROUNDS[ground]
    spoil(begun)
    journal.run(begun, "2026-03-05")
    assert journal.asked[-1] == -1
    assert journal.read[-len(journal.records) :] == list(range(len(journal.records)))
    for day in ("2026-03-02", "2026-03-04"):
        assert begun.read(day).anchor_v2 == anchored(day, journal.records).anchor_v2
    again = Journal(journal.records, journal.journal_id)
    again.run(begun, "2026-03-06")
    assert again.asked == [len(journal.records) - 2], "and the next run goes on from a new one"


def test_a_cursor_with_any_bit_changed_is_none() -> None:
    cursor = Cursor(date(2026, 3, 1), JOURNAL, "cd" * 16, 12_345)
    data = cursor.encode(DATES)
    assert read_cursor(data, DATES) == cursor
    assert read_cursor(data, DATES[1:]) is None
    for at in range(len(data) * 8):
        changed = bytearray(data)
        changed[at // 8] ^= 1 << at % 8
        assert read_cursor(bytes(changed), DATES) is None


@pytest.mark.parametrize(
    "text",
    ["null", "[]", "{}", '{"first":"2026-03-01","journal_id":"a","record_id":"b","seq":1e400}']
    + [f'{{"first":"2026-03-01","journal_id":"a","record_id":"b","seq":{seq}}}' for seq in (-1, 1 << 60)],
)
def test_what_was_never_a_cursor_is_none(text: str) -> None:
    assert read_cursor(text.encode(), DATES) is None


# --- the anchors are the same ---------------------------------------------------------------------

FIRST = date(2026, 3, 1)
TIMES = st.one_of(
    st.integers(-3, 12).map(lambda n: f"{FIRST + timedelta(days=n)}T10:00:00.000000Z"),
    st.sampled_from(["", "2026-02-30T", "9999-12-31T"]),
)
STEPS = st.one_of(
    st.tuples(st.just("append"), st.lists(TIMES, max_size=4)),
    st.tuples(st.just("run"), st.integers(0, 12)),
    st.tuples(st.just("remove"), st.integers(0, 12)),
    st.tuples(st.just("damage"), st.binary(max_size=3)),
    st.tuples(st.just("repair"), st.integers(0, 9)),
)


class Twins:
    """Two ledgers of one journal; before each run of the second its cursor is taken away."""

    def __init__(self, base: Path) -> None:
        self.ledger, self.whole = (
            ledger_in(base / name, ScriptedOps(syncing=False)) for name in ("one", "two")
        )
        self.records: list[Noted] = []
        self.made = 0

    def append(self, times: list[str]) -> None:
        for time in times:
            self.made += 1
            self.records.append(Noted(f"{self.made:032x}", time))

    def run(self, day: int) -> None:
        cursor_of(self.whole).unlink(missing_ok=True)
        reports = [
            run(self.records, ledger, noon(str(FIRST + timedelta(days=day))))
            for ledger in (self.ledger, self.whole)
        ]
        assert reports[0] == reports[1]
        assert days_in(self.ledger) == days_in(self.whole)

    def remove(self, number: int) -> None:
        for name in self.ledger.dates()[number : number + 1]:
            for ledger in (self.ledger, self.whole):
                (ledger.folder / f"{name}.json").unlink()

    def damage(self, data: bytes) -> None:
        with suppress(FileNotFoundError):
            path = cursor_of(self.ledger)
            path.write_bytes(path.read_bytes()[: -1 - len(data)] + data)

    def repair(self, seq: int) -> None:
        """Every record from ``seq`` on is another one now, as its id says."""
        times = [record.timestamp for record in self.records[seq:]]
        del self.records[seq:]
        self.append(times[:-1])


@given(steps=st.lists(STEPS, max_size=12))
@settings(max_examples=150, deadline=None)
def test_whatever_happens_between_runs_the_anchors_are_those_of_whole_readings(
    steps: list[tuple[str, object]],
) -> None:
    with TemporaryDirectory() as base:
        twins = Twins(Path(base))
        for name, argument in steps:
            getattr(twins, name)(argument)
        twins.run(13)


# --- faults ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "for good"])
def test_whichever_call_of_a_later_run_fails_the_next_one_completes(
    begun: Ledger, tmp_path: Path, lasting: bool
) -> None:
    whole = ledger_in(tmp_path / "whole")
    run(RECORDS, whole, noon("2026-03-04"))
    cursor_of(whole).unlink()
    run(LATER, whole, noon("2026-03-06"))
    runs = 0
    for runs, ops in enumerate(each_failure(errno.EIO, lasting=lasting), 1):
        base = tmp_path / str(runs)
        shutil.copytree(begun.folder.parent, base)
        with suppress(OSError):
            run(LATER, ledger_in(base, ops), noon("2026-03-06"))
        assert ops.descriptors == {}
        ledger = ledger_in(base, ScriptedOps(syncing=False))
        run(LATER, ledger, noon("2026-03-06"))
        assert days_in(ledger) == days_in(whole)
        run(LATER, ledger, noon("2026-03-08"))
        assert ledger.dates()[-2:] == ["2026-03-06", "2026-03-07"]
    assert runs > 25, "a run makes more calls than that"


def test_a_power_loss_never_leaves_a_cursor_of_anchors_that_are_not_there() -> None:
    mount = Path("/disk")
    disk = SimulatedDisk(mount)
    ledger = Ledger(mount, agent_id=AGENT, files=Files(disk))
    Files(disk).mkdir(ledger.folder)
    begin, kept = disk.steps, {}
    for number, day in enumerate(DATES):
        ledger.add(anchored(day, RECORDS).anchor_v2)
        kept[Cursor(FIRST, JOURNAL, "cd" * 16, number)] = DATES[: number + 1]
        ledger.keep_cursor([*kept][-1], DATES[: number + 1])
    believed = set()
    for at in range(begin, disk.steps + 1):
        for state in disk.crash_states(at):
            after = Ledger(mount, agent_id=AGENT, files=Files(SimulatedDisk(mount, holds=state)))
            cursor = after.cursor(after.dates())
            assert cursor is None or kept[cursor] == after.dates()
            believed.add(cursor)
    assert believed == {None, *kept}


def test_a_run_that_is_cancelled_while_it_keeps_its_cursor_is_completed(begun: Ledger) -> None:
    ops = ScriptedOps()
    gate = ops.hold("replace", name="CURSOR.json")

    async def cancelled() -> None:
        ledger = ledger_in(begun.folder.parent, ops)
        run_once = publish_due(source(LATER), ledger, (), noon("2026-03-05"))
        await cancelled_at(gate, asyncio.create_task(run_once))

    asyncio.run(cancelled())
    assert begun.dates() == [*DATES, "2026-03-04"]
    journal = Journal(LATER)
    assert journal.run(begun, "2026-03-06").anchored == ("2026-03-05",)
    assert journal.read == [5]


def test_an_anchor_that_is_removed_while_a_run_reads_is_made_again(begun: Ledger) -> None:
    """The cursor is kept for the days that the run knew of, so the next one does not believe it."""

    def removing(after: int) -> Iterator[Noted]:
        (begun.folder / "2026-03-02.json").unlink()
        yield from numbered(LATER, after=after)

    asyncio.run(publish_due(Source(JOURNAL, removing), begun, (), noon("2026-03-05")))
    assert Journal(LATER).run(begun, "2026-03-05").anchored == ("2026-03-02",)
    assert begun.read("2026-03-02").anchor_v2 == anchored("2026-03-02", LATER).anchor_v2
