"""Nothing that is done to the stored records passes unnoticed (J1, J4-J6).

Everything is done to a journal of which each record has its text, and to one that holds purged records. The
sweeps over every bit and byte run on the pure half of the journal: a walk that breaks at or before the last
acknowledged record is a refusal, whatever else holds. Edits of whole records and a sample of the bits, bytes
and cuts are done to real files, with ``HEAD`` and the witness in place, and judged by opening them;
``HIPPO_LONG=1`` takes a larger sample.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import accumulate, combinations
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from hippo_async.errors import JournalCorrupt
from hippo_async.journal import Key
from hippo_async.journal.codec import encode_line, split_line
from hippo_async.journal.scan import Chain, ChainBroken, is_torn, skim, walk
from hippo_async.journal.seal import Sealer

if TYPE_CHECKING:
    from conftest import Store


REFUSED = {"JournalCorrupt", "AcknowledgedLoss", "HeadMismatch", "RolledBack", "WrongKey", "ForeignJournal"}
REFUSED |= {"FormatTooNew"}
LONG = os.environ.get("HIPPO_LONG") == "1"
SAMPLE = 7 if LONG else 61  # every so many-th bit: odd, so that all eight positions in a byte come up


class Pure(NamedTuple):
    """The stored lines, the chain as it stands before each of them, and what checks them."""

    lines: list[bytes]
    chains: list[Chain]
    sealer: Sealer

    def breaks_at(self, index: int, line: bytes) -> bool:
        """Whether the walk breaks at record ``index`` when ``line`` stands in its place.

        The quick way of checking, which opening and ``verify_chain`` take, must come to the same.
        """
        data = line + b"".join(self.lines[index + 1 :])
        walked = self.verdict(index, lambda chain: next(walk(data, chain, self.sealer)))
        skimmed = self.verdict(index, lambda chain: skim(data, chain, self.sealer))
        assert walked == skimmed
        return walked is not None

    def verdict(self, index: int, check: Callable[[Chain], object]) -> tuple[int, int, str] | None:
        """Where and why a check breaks that begins at record ``index``, if it does."""
        try:
            check(replace(self.chains[index], purged={}, named=set()))
        except ChainBroken as broken:
            return broken.offset, broken.seq, broken.reason
        return None


@pytest.fixture(scope="module", params=["plain", "purged"])
def pure(request: pytest.FixtureRequest, twenty_once: Store, purged_once: Store) -> Pure:
    """The lines of a journal of 20 records: all with their texts, or four of them purged."""
    store = {"plain": twenty_once, "purged": purged_once}[request.param]
    data = store.live.read_bytes()
    journal_id = store.report().journal_id
    sealer = store.sealers().record
    chain = Chain(journal_id, store.agent_id)
    chains = [replace(chain)]
    chains.extend(replace(chain) for _ in walk(data, chain, sealer))
    return Pure(data.splitlines(keepends=True), chains, sealer)


@pytest.fixture(params=["plain", "purged"])
def stored(request: pytest.FixtureRequest, twenty_once: Store, purged_once: Store, tmp_path: Path) -> Store:
    """A journal of 20 records in real files: all with their texts, or four of them purged."""
    return {"plain": twenty_once, "purged": purged_once}[request.param].copy_to(tmp_path / "stored")


def test_the_untouched_lines_do_not_break(pure: Pure) -> None:
    """The control of the sweeps below: what breaks there breaks because of the change."""
    assert len(pure.lines) == 20
    assert not any(pure.breaks_at(index, line) for index, line in enumerate(pure.lines))


def test_skimming_moves_the_chain_as_walking_does(pure: Pure) -> None:
    walked, skimmed = (replace(pure.chains[0], purged={}, named=set()) for _ in range(2))
    data = b"".join(pure.lines)
    assert sum(1 for _ in walk(data, walked, pure.sealer)) == 20
    assert skim(data, skimmed, pure.sealer) == len(data)
    assert walked == skimmed


def test_every_flipped_bit_is_noticed(pure: Pure) -> None:
    flipped = 0
    for index, line in enumerate(pure.lines):
        for at in range(len(line)):
            for bit in range(8):
                changed = line[:at] + bytes([line[at] ^ 1 << bit]) + line[at + 1 :]
                assert pure.breaks_at(index, changed), f"record {index}, byte {at}, bit {bit}"
                flipped += 1
    print("bits flipped:", flipped)
    assert flipped == 8 * sum(map(len, pure.lines))


def test_every_overwritten_byte_is_noticed(pure: Pure) -> None:
    overwritten = 0
    for index, line in enumerate(pure.lines):
        for at in range(len(line)):
            for byte in {0x00, 0x0A, 0xFF} - {line[at]}:
                changed = line[:at] + bytes([byte]) + line[at + 1 :]
                assert pure.breaks_at(index, changed), (
                    f"record {index}, byte {at}, written over by {byte:#04x}"
                )
                overwritten += 1
    print("bytes overwritten:", overwritten)


def test_every_byte_inserted_or_taken_out_is_noticed(pure: Pure) -> None:
    line = pure.lines[7]
    for at in range(len(line) - 1):
        assert pure.breaks_at(7, line[:at] + line[at + 1 :]), f"without byte {at}"
        for byte in b'\x00\n 0"}':
            changed = line[:at] + bytes([byte]) + line[at:]
            assert pure.breaks_at(7, changed), f"with {byte:#04x} before byte {at}"


@pytest.mark.parametrize("witnessed", [True, False], ids=["witness", "HEAD alone"])
def test_flipped_bits_of_a_real_journal_are_refused(stored: Store, witnessed: bool) -> None:
    written = stored.read()
    flipped = 0
    for at, bit in flipping(stored.live, step=SAMPLE):
        verdict = stored.verdict(written, witnessed=witnessed)
        assert verdict in REFUSED, f"byte {at}, bit {bit}: {verdict}"
        flipped += 1
    print("bits flipped in real files:", flipped)
    assert stored.verdict(written) == "intact"


@pytest.mark.parametrize("byte", [0x00, 0x0A, 0xFF])
def test_overwritten_bytes_of_a_real_journal_are_refused(stored: Store, byte: int) -> None:
    written = stored.read()
    data = stored.live.read_bytes()
    overwritten = 0
    for at in range(byte % 5, len(data), SAMPLE):
        if data[at] != byte:
            stored.live.write_bytes(data[:at] + bytes([byte]) + data[at + 1 :])
            verdict = stored.verdict(written, witnessed=False)
            assert verdict in REFUSED, f"byte {at}, written over by {byte:#04x}: {verdict}"
            overwritten += 1
    print("bytes overwritten in real files:", overwritten)


def test_sectors_of_a_real_journal_that_are_zeroed_are_refused(stored: Store) -> None:
    """F07: the last one too, which alone would look like the rest of a torn write."""
    written = stored.read()
    data = stored.live.read_bytes()
    for at in range(0, len(data), 512):
        stored.live.write_bytes(data[:at] + bytes(len(data[at : at + 512])) + data[at + 512 :])
        verdict = stored.verdict(written, witnessed=False)
        assert verdict in REFUSED, f"the sector at {at}: {verdict}"
    assert verdict == "AcknowledgedLoss"


def test_flipped_bits_of_the_last_record_are_refused(stored: Store) -> None:
    """The last record is the one that a torn tail could be taken for; its newline above all."""
    written = stored.read()
    start = stored.live.read_bytes()[:-1].rindex(b"\n") + 1
    verdicts = set()
    for at, bit in flipping(stored.live, start=start, step=11):
        verdict = stored.verdict(written, witnessed=False)
        assert verdict in REFUSED, f"byte {at}, bit {bit}: {verdict}"
        verdicts.add(verdict)
    assert verdicts == {"JournalCorrupt", "AcknowledgedLoss"}


def test_a_cut_at_every_byte_leaves_fewer_records_than_were_acknowledged(pure: Pure) -> None:
    """The walk ends early or breaks in what looks like a torn write: what HEAD says makes it a loss."""
    cuts = 0
    for index, line in enumerate(pure.lines):
        for length in range(len(line)):
            chain = replace(pure.chains[index])
            with suppress(ChainBroken):
                list(walk(line[:length], chain, pure.sealer))
            assert chain.seq == index - 1
            assert not length or is_torn(line[:length], 0)
            cuts += 1
    print("cuts:", cuts)


def test_cuts_of_a_real_journal_are_an_acknowledged_loss(stored: Store) -> None:
    """Those at the ends of records above all: there the chain alone has nothing to say.

    Where the cut takes the purge away and not what it named, that record lacks its text for no reason.
    """
    written = stored.read()
    lines = stored.live.read_bytes().splitlines(keepends=True)
    ends = {end + shift for end in accumulate(map(len, lines)) for shift in (-1, 0, 1)}
    size = sum(map(len, lines))
    verdicts = set()
    for length in sorted({*ends, *range(0, size, 17)} & {*range(size)}, reverse=True):
        os.truncate(stored.live, length)
        verdicts.add(stored.verdict(written, witnessed=False))
    unexplained = {"JournalCorrupt"} if any(record.purged for record in written) else set()
    assert verdicts == {"AcknowledgedLoss"} | unexplained


def test_every_deleted_record_is_refused(stored: Store) -> None:
    check_edits(stored, lambda lines: [lines[:at] + lines[at + 1 :] for at in range(len(lines))])


def test_every_payload_taken_away_is_refused_but_those_that_a_purge_names(stored: Store) -> None:
    """A record without its text verifies by itself; that it should have none is sealed elsewhere."""

    def edits(lines: list[bytes]) -> Iterator[list[bytes]]:
        for at, line in enumerate(lines):
            frame = split_line(line)
            assert frame is not None
            if frame.payload != b"null":
                _, bare = encode_line(frame.header, b"null", frame.seal.decode())
                yield [*lines[:at], bare, *lines[at + 1 :]]

    assert check_edits(stored, edits) == 20 - sum(record.purged for record in stored.read())


def test_every_repeated_record_is_refused(stored: Store) -> None:
    """Right after itself, at the end, and at the beginning."""

    def edits(lines: list[bytes]) -> Iterator[list[bytes]]:
        for at, line in enumerate(lines):
            yield [*lines[: at + 1], line, *lines[at + 1 :]]
            yield [*lines, line]
            yield [line, *lines]

    check_edits(stored, edits)


def test_a_blank_line_anywhere_is_refused(stored: Store) -> None:
    check_edits(stored, lambda lines: [[*lines[:at], b"\n", *lines[at:]] for at in range(21)])


def test_every_pair_of_records_swapped_is_refused(stored: Store) -> None:
    def edits(lines: list[bytes]) -> Iterator[list[bytes]]:
        for one, other in combinations(range(len(lines)), 2):
            swapped = list(lines)
            swapped[one], swapped[other] = lines[other], lines[one]
            yield swapped

    assert check_edits(stored, edits) == 190


def test_every_record_moved_to_another_place_is_refused(stored: Store) -> None:
    def edits(lines: list[bytes]) -> Iterator[list[bytes]]:
        for source in range(len(lines)):
            rest = lines[:source] + lines[source + 1 :]
            for target in set(range(len(lines))) - {source}:
                yield [*rest[:target], lines[source], *rest[target:]]

    assert check_edits(stored, edits) == 380


@pytest.mark.parametrize(
    "other",
    [{}, {"agent_id": "someone else"}, {"key": Key(bytes(range(1, 33)))}],
    ids=["journal", "agent", "key"],
)
def test_records_of_another_journal_are_refused_at_every_place(
    stored: Store, other: dict[str, object]
) -> None:
    """Valid lines of the same agent's other journal, of another agent, and under another key."""
    foreign = replace(stored, base=stored.base / "other", **other)  # type: ignore[arg-type]  # one field of three
    foreign.write(f"text {number}" for number in range(1, 20))
    strange = foreign.live.read_bytes().splitlines(keepends=True)

    def edits(lines: list[bytes]) -> Iterator[list[bytes]]:
        for at in range(len(lines)):
            yield [*lines[:at], strange[at], *lines[at + 1 :]]
            yield [*lines[:at], strange[at], *lines[at:]]
            yield [*lines[:at], *strange[at:]]
        yield [*lines, strange[-1]]

    assert check_edits(stored, edits) == 61


def test_records_of_a_copy_that_went_its_own_way_are_refused(stored: Store) -> None:
    """Every single line of the fork is valid, linked and sealed under the right key and journal id."""
    ahead = stored.copy_to(stored.base / "fork")
    stored.write(["the real one"])
    ahead.write(["another one", "and one more"])
    forked = ahead.live.read_bytes().splitlines(keepends=True)

    check_edits(
        stored, lambda lines: [[*lines[:-1], forked[-2]], [*lines[:-1], *forked[-2:]], [*lines, forked[-1]]]
    )


def test_an_edit_in_any_of_several_segments_is_refused(segmented: Store) -> None:
    written = segmented.read()
    for path in segmented.segments:
        original = path.read_bytes()
        lines = original.splitlines(keepends=True)
        edits = [lines[:at] + lines[at + 1 :] for at in range(len(lines))]
        edits += [[*lines[: at + 1], line, *lines[at + 1 :]] for at, line in enumerate(lines)]
        edits += [[*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]] for at in range(len(lines) - 1)]
        for edit in edits:
            path.write_bytes(b"".join(edit))
            assert segmented.verdict(written) in REFUSED
        path.write_bytes(original)
    assert segmented.verdict(written) == "intact"


def test_a_flipped_bit_in_a_closed_segment_is_traced_to_its_record(segmented: Store) -> None:
    closed = segmented.segments[1]
    lines = closed.read_bytes().splitlines(keepends=True)
    offset = len(lines[0]) + len(lines[1])
    next(flipping(closed, start=offset + 300))

    with pytest.raises(JournalCorrupt) as caught:
        segmented.report()

    assert (caught.value.path, caught.value.offset, caught.value.seq) == (closed, offset, 8)


def test_flipped_bits_of_closed_segments_are_refused(segmented: Store) -> None:
    written = segmented.read()
    for path in segmented.segments[:-1]:
        for at, bit in flipping(path, step=67):
            assert segmented.verdict(written) in REFUSED, f"{path.name}, byte {at}, bit {bit}"


def test_a_segment_that_is_missing_moved_or_doubled_is_refused(segmented: Store) -> None:
    written = segmented.read()
    for path in segmented.segments:
        aside = path.with_suffix(".aside")
        path.rename(aside)
        assert segmented.verdict(written) in REFUSED, f"without {path.name}"
        for other in segmented.segments:
            path.write_bytes(other.read_bytes())
            assert segmented.verdict(written) in REFUSED, f"{path.name} replaced by {other.name}"
        aside.rename(path)
    for first in (3, 20, 99):
        extra = segmented.live.with_name(f"seg-{first:012d}.jsonl")
        extra.write_bytes(segmented.live.read_bytes())
        assert segmented.verdict(written) in REFUSED, f"with {extra.name}"
        extra.unlink()
    assert segmented.verdict(written) == "intact"


def flipping(path: Path, *, start: int = 0, step: int = 1) -> Iterator[tuple[int, int]]:
    """Flip every ``step``-th bit of a file from byte ``start`` on, one at a time; yield its byte and bit."""
    data = path.read_bytes()
    with path.open("r+b", buffering=0) as file:
        for number in range(start * 8, len(data) * 8, step):
            at, bit = divmod(number, 8)
            os.pwrite(file.fileno(), bytes([data[at] ^ 1 << bit]), at)
            yield at, bit
            os.pwrite(file.fileno(), data[at : at + 1], at)


def check_edits(store: Store, edits: Callable[[list[bytes]], Iterable[list[bytes]]]) -> int:
    """Put each edited list of lines in place of the live segment: all are refused. Return how many."""
    written = store.read()
    lines = store.live.read_bytes().splitlines(keepends=True)
    tried = 0
    for edit in edits(lines):
        store.live.write_bytes(b"".join(edit))
        verdict = store.verdict(written)
        assert verdict in REFUSED, f"edit {tried}: {verdict}"
        tried += 1
    store.live.write_bytes(b"".join(lines))
    assert store.verdict(written) == "intact"
    print("edits of records:", tried)
    return tried
