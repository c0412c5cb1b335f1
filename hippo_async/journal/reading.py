"""Reading a journal that was found sound: one record, all of them, or a verdict. Every line is checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hippo_async.errors import AcknowledgedLoss, JournalCorrupt, NotFound
from hippo_async.files import Files
from hippo_async.journal.codec import BadLine, open_line, to_record
from hippo_async.journal.layout import Layout, list_segments
from hippo_async.journal.recovery import Recovered
from hippo_async.journal.scan import UNEXPLAINED, Chain, ChainBroken, skim, skip_to, walk
from hippo_async.journal.writer import Tail
from hippo_async.records import Location, Record


@dataclass(frozen=True, slots=True)
class ChainReport:
    """What a full verification found (J6): intact, or where and why not."""

    intact: bool
    records: int
    reason: str | None = None
    record_id: str | None = None
    seq: int | None = None
    path: Path | None = None
    offset: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON values."""
        return {
            "intact": self.intact,
            "records": self.records,
            "reason": self.reason,
            "record_id": self.record_id,
            "seq": self.seq,
            "path": None if self.path is None else str(self.path),
            "offset": self.offset,
        }


class Reader:
    """Reads one journal beside its writer; ``tail`` tells what was acknowledged so far."""

    def __init__(self, files: Files, layout: Layout, found: Recovered, tail: Callable[[], Tail]) -> None:
        self._files = files
        self._layout = layout
        self._found = found
        self._tail = tail

    def line(self, location: Location, record_id: str) -> tuple[bytes, Record]:
        """Read one line as it is stored, checked against its seal, with its record.

        Raises :class:`JournalCorrupt` if the bytes are not the ones that were sealed, :class:`NotFound` if
        they are another record's.
        """
        found = self._found
        path = self._layout.segment(found.generation, location.segment)
        line = self._files.read_at(path, location.offset, location.length)
        if len(line) != location.length:
            raise JournalCorrupt(path, location.offset, -1, "the record's line ends early")
        try:
            header, frame = open_line(line, found.sealers.record)
            if frame.record_id.decode() != record_id or header.journal_id != found.journal_id:
                raise NotFound(f"record {record_id} does not stand where it was said to")
            return line, to_record(header, record_id, frame.payload)
        except BadLine as error:
            raise JournalCorrupt(path, location.offset, -1, str(error)) from None

    def scan(self, *, after: int, retired: bool = False) -> Iterator[tuple[Record, Location]]:
        """Yield every record with a seq above ``after``, each verified and linked to the one before.

        Up to ``after`` only that record is checked: opening checked the others, as :meth:`verify_chain` does.
        Of a ``retired`` journal it is not asked whether a purge explains each missing text: that may stand in
        a later one. Raises :class:`JournalCorrupt` at the first record that is not what was sealed, and
        :class:`AcknowledgedLoss` at the end if records that were acknowledged before the call are not there.
        """
        chain = self._found.chain.restarted()
        acknowledged = self._tail().seq
        for first, path, data in self._segments(after, chain):
            with self._damage_at(path):
                offset = skip_to(after, data, chain, self._found.sealers.record)
                for step in walk(data, chain, self._found.sealers.record, offset=offset):
                    if step.header.seq > after:
                        yield step.record(), Location(first, step.offset, step.length)
        if not retired:
            self._check_purges(chain)
        if chain.seq < acknowledged:
            reason = f"records up to {acknowledged} were acknowledged, the journal ends at {chain.seq}"
            raise AcknowledgedLoss(self._generation, 0, chain.seq + 1, reason)

    def verify_chain(self, named: set[str]) -> ChainReport:
        """Walk once from the first record to the last and check every seal and link (J6).

        ``named`` are the ids that purge records of later journals name; those that this one names are added.
        Reads the files as they are now; never raises for what it finds in them.
        """
        acknowledged = self._tail()
        chain = self._found.chain.restarted()
        chain.named = named
        try:
            for _, path, data in self._segments(-1, chain):
                with self._damage_at(path):
                    skim(data, chain, self._found.sealers.record)
            self._check_purges(chain)
        except JournalCorrupt as error:
            return self._broken(error, chain)
        records = chain.seq + 1 - chain.start
        if chain.seq < acknowledged.seq:
            return ChainReport(False, records, "acknowledged records are missing", seq=chain.seq + 1)
        return ChainReport(True, records, record_id=chain.record_id, seq=chain.seq)

    @property
    def _generation(self) -> Path:
        return self._layout.generation(self._found.generation)

    def _segments(self, after: int, chain: Chain) -> Iterator[tuple[int, Path, bytes]]:
        """Yield the segments in which records above ``after`` stand; ``chain`` is moved past the others."""
        found = self._found
        closed = {entry.first: entry for entry in found.closed}
        for first in list_segments(self._files, self._layout, found.generation):
            entry = closed.get(first)
            if entry is not None and entry.last <= after:
                chain.seq, chain.record_id = entry.last, entry.last_id
                continue
            path = self._layout.segment(found.generation, first)
            yield first, path, self._files.read(path)

    @contextmanager
    def _damage_at(self, path: Path) -> Iterator[None]:
        """Turn a break among acknowledged records into an error; one behind them is a group being written."""
        acknowledged = self._tail().seq
        try:
            yield
        except ChainBroken as broken:
            if broken.seq <= acknowledged:
                raise JournalCorrupt(path, broken.offset, broken.seq, broken.reason) from None

    def _check_purges(self, chain: Chain) -> None:
        place = chain.unexplained()
        if place is not None:
            _, seq, offset = place
            first = max(
                n for n in list_segments(self._files, self._layout, self._found.generation) if n <= seq
            )
            path = self._layout.segment(self._found.generation, first)
            raise JournalCorrupt(path, offset, seq, UNEXPLAINED)

    def _broken(self, error: JournalCorrupt, chain: Chain) -> ChainReport:
        line = self._files.read_at(error.path, error.offset, 1 << 16)
        _, _, after = line.partition(b',"id":"')
        record_id = after[:32].decode("ascii", "replace") or None
        records = min(chain.seq + 1, error.seq) - chain.start
        return ChainReport(False, records, error.reason, record_id, error.seq, error.path, error.offset)
