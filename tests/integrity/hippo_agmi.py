"""This memory as the public suite ``agent-memory-integrity`` (``agmi``) sees it: where its bytes lie, and
what it says when it reads them again.

It is set up as its owner would: a ``HEAD`` in the store, a witness outside it. The key lies outside too, for
the suite's attacker holds everything in the store and no key. Two agents of one owner share that key and are
the two contexts of the suite.

The suite's own command runs it as well, with this folder on ``PYTHONPATH``:
``agmi-check --adapter hippo_agmi:HippocampusAdapter``.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agmi.adapters.base import MemoryAdapter, Record

from hippo_async import Hippocampus, blocking
from hippo_async.errors import IntegrityError

AGENT = "ada"
OTHER_AGENT = "ben"
QUERY = "key"
GENESIS_LINES = 1
"""How many lines the journal writes of itself before the first memory."""


class HippocampusAdapter(MemoryAdapter):
    """Seeds and reads through :class:`~hippo_async.Hippocampus`; edits its segment behind its back.

    A record of the suite is one stored line; its ``seq`` is the place of that line in the segment. A replayed
    record is a whole genuine line, seal and all, in another's place. A forged one has every hash that can be
    computed without the key. ``witnessed=False`` goes without the witness.
    """

    name = "hippo-async"
    detection_point = "read"
    supports_replay = True
    supports_metadata = True
    supports_snapshot = True

    def __init__(self, *, witnessed: bool = True) -> None:
        self._witnessed = witnessed
        self._folder: TemporaryDirectory[str] | None = None
        self.refusal: IntegrityError | None = None
        self.served: list[str] = []
        self.recalled: list[str] = []

    def setup(self) -> None:
        """Begin with an empty folder."""
        self._folder = TemporaryDirectory(prefix="hippo-agmi-")

    def teardown(self) -> None:
        """Remove the folder."""
        if self._folder is not None:
            self._folder.cleanup()

    # ------------------------------------------------------------ as the owner

    def seed(self, n: int) -> None:
        """Capture ``n`` turns and close, so that all are durable."""
        self._capture(AGENT, (f"The spare key number {i} lies under the pot." for i in range(n)))

    def seed_other(self, n: int) -> None:
        """Capture ``n`` turns of the other agent."""
        self._capture(OTHER_AGENT, (f"The key to vault {i} is with the notary." for i in range(n)))

    def append_genuine(self) -> None:
        """Capture one more turn."""
        self._capture(AGENT, ["The spare key was moved to the shed."])

    def reload(self) -> None:
        """Do nothing: no memory stays open between calls, so each :meth:`verify` is a restart."""

    def verify(self) -> bool:
        """Open the memory, recall, and read all of its records; false if it refuses.

        Anything but an :class:`~hippo_async.errors.IntegrityError` passes through, and the suite gives no
        verdict: a crash is no refusal.
        """
        self.refusal = self.verify_detail = None
        try:
            with self._memory(AGENT) as memory:
                blocking(self._read)(memory)
        except IntegrityError as refusal:
            self.refusal = refusal
            self.verify_detail = f"{refusal.code}, seq {refusal.seq}: {refusal.reason}"
            return False
        return True

    async def _read(self, memory: Hippocampus) -> None:
        found = await memory.recall(QUERY)
        self.recalled = [hit.record.text for hit in found.hits]
        self.served = [record.text async for record in memory.records()]

    def _capture(self, agent_id: str, texts: Iterable[str]) -> None:
        with self._memory(agent_id) as memory:
            for text in texts:
                memory.capture(text)

    def _memory(self, agent_id: str) -> Hippocampus:
        outside = self._root / "outside"
        return Hippocampus(
            self._store(agent_id),
            agent_id=agent_id,
            key_file=outside / "owner.key",
            witness=outside / "witness" if self._witnessed else None,
            embedder="none",
        )

    # --------------------------------------------------------- as the attacker

    def read_all_raw(self) -> list[Record]:
        """Return the stored lines of the agent's memories."""
        return self._records(AGENT)

    def read_other_raw(self) -> list[Record]:
        """Return the stored lines of the other agent's memories."""
        return self._records(OTHER_AGENT)

    def write_raw(self, record: Record) -> None:
        """Put a line in its place, or behind the last one."""
        lines = self._lines(AGENT)
        lines[record.seq : record.seq + 1] = [record.fields["line"]]
        self._write(lines)

    def delete_raw(self, seq: int) -> None:
        """Take a line out."""
        lines = self._lines(AGENT)
        del lines[seq]
        self._write(lines)

    def replay_onto(self, victim_seq: int, donor: Record) -> None:
        """Put a genuine line, seal and all, in another's place."""
        self.write_raw(Record(victim_seq, donor.fields))

    def mutate_payload(self, record: Record) -> Record:
        """Change what a line says, and none of its links."""
        entry = json.loads(record.fields["line"])
        entry["payload"]["content"] = "The spare key is with the courier."
        return Record(record.seq, record.fields | {"line": _compact(entry)})

    def forge_record(self, template: Record) -> Record:
        """Make the line that would come next, all but its seal."""
        entry = json.loads(self.mutate_payload(template).fields["line"])
        entry["header"]["seq"] += 1
        entry["header"]["prev_id"] = entry["id"]
        entry["header"]["commitment"] = _sha256(entry["payload"])
        entry["id"] = _sha256(entry["header"])[:32]
        return Record(template.seq + 1, template.fields | {"line": _compact(entry)})

    def read_meta(self, seq: int) -> dict[str, Any]:
        """Return the stored metadata of a line: role, source, turn."""
        return dict(json.loads(self._lines(AGENT)[seq])["payload"]["metadata"])

    def write_meta(self, seq: int, meta: dict[str, Any]) -> None:
        """Replace the stored metadata of a line."""
        entry = json.loads(self._lines(AGENT)[seq])
        entry["payload"]["metadata"] = meta
        self.write_raw(Record(seq, {"line": _compact(entry)}))

    def snapshot_store(self) -> Path:
        """Copy the agent's whole data directory."""
        return Path(shutil.copytree(self._store(AGENT), self._root / "copy"))

    def restore_store(self, token: object) -> None:
        """Put the copy in the place of the data directory."""
        assert isinstance(token, Path)
        shutil.rmtree(self._store(AGENT))
        token.rename(self._store(AGENT))

    # ------------------------------- what the suite asks of a record, to see that an edit landed

    def identity_of(self, record: Record) -> str:
        """Name the place of a line: whose journal, which line."""
        return f"{record.fields['owner']}/{record.seq}"

    def payload_of(self, record: Record) -> str:
        """Return what a line says."""
        return str(json.loads(record.fields["line"])["payload"]["content"])

    def owner_of(self, record: Record) -> str:
        """Say in whose journal a line lies."""
        return str(record.fields["owner"])

    # -------------------------------------------------------------- the bytes

    @property
    def _root(self) -> Path:
        assert self._folder is not None, "setup() comes first"
        return Path(self._folder.name)

    def _store(self, agent_id: str) -> Path:
        return self._root / "stores" / agent_id

    def _segment(self, agent_id: str) -> Path:
        [segment] = (self._store(agent_id) / "journal").glob("gen-*/seg-*.jsonl")
        return segment

    def _lines(self, agent_id: str) -> list[str]:
        return self._segment(agent_id).read_text(encoding="utf-8").splitlines()

    def _write(self, lines: list[str]) -> None:
        self._segment(AGENT).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    def _records(self, agent_id: str) -> list[Record]:
        lines = list(enumerate(self._lines(agent_id)))[GENESIS_LINES:]
        return [Record(place, {"owner": agent_id, "line": line}) for place, line in lines]


def _compact(value: object) -> str:
    """Write JSON as the journal does; for the values here that is RFC 8785."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _sha256(value: object) -> str:
    return hashlib.sha256(_compact(value).encode()).hexdigest()
