"""``BACKUP.json``: what a backup is of, and what its files held when it was made. Pure.

A journal proves itself to whoever has the key, so three things are left for a manifest to do. It notices what
no seal covers: bits that rot in ``raw/`` and ``config.toml``, and files of ``raw/`` and ``anchors/`` that are
missing. It is stricter than opening: one damaged slot of ``HEAD`` is harmless in a store after a power loss,
and a bad sign in a backup. And it says whose backup this is, and of when, to somebody without the key.

It is a checksum and no seal: whoever can change a backup can write another manifest for it, and still no
other journal. ``CURRENT`` is not in it, since it is written later; the key files are not, since they are
secrets; any damage to either keeps the journals from being read.

The file is canonical JSON and a newline, of exactly these fields:

=========== ==========================================================================
field       value
=========== ==========================================================================
agent_id    whose memory it is
backup      ``montana.agent.hippocampus.v2.backup``
digest      SHA-256, in hex, over the canonical form of all other fields
files       name, sha256 and size of each file, by name
journal_id  the id of the agent's first journal
keys        how many keys, one an epoch, it takes to open it and go on
made_at     when the backup was made
record_id   the last record
seq         its number
=========== ==========================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any, Final, Literal

from pydantic import TypeAdapter, ValidationError

from hippo_async.journal.canon import canonical

MANIFEST = "BACKUP.json"
FORMAT: Final = "montana.agent.hippocampus.v2.backup"


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a backup, named from its root with slashes."""

    name: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup holds. ``files`` are sorted by name; ``seq`` and ``record_id`` are of the last record."""

    agent_id: str
    files: tuple[Entry, ...]
    journal_id: str
    keys: int
    made_at: str
    record_id: str
    seq: int
    backup: Literal["montana.agent.hippocampus.v2.backup"] = FORMAT

    @property
    def size(self) -> int:
        """Bytes that the files take."""
        return sum(entry.size for entry in self.files)

    @property
    def by_name(self) -> Mapping[str, Entry]:
        """The files, by name."""
        return {entry.name: entry for entry in self.files}

    def as_dict(self) -> dict[str, Any]:
        """Return what it is a backup of as plain JSON values, with the number of its files and bytes."""
        return {
            "agent_id": self.agent_id,
            "journal_id": self.journal_id,
            "keys": self.keys,
            "made_at": self.made_at,
            "records": self.seq + 1,
            "seq": self.seq,
            "record_id": self.record_id,
            "files": len(self.files),
            "bytes": self.size,
        }

    def encode(self) -> bytes:
        """Write the file."""
        document = asdict(self)
        document["files"] = [asdict(entry) for entry in self.files]
        digest = sha256(canonical(document)).hexdigest()
        return canonical(document | {"digest": digest}) + b"\n"


def decode(data: bytes) -> Manifest:
    """Read a file that :meth:`Manifest.encode` wrote. Raises ``ValueError`` if it holds anything else."""
    try:
        manifest = _DOCUMENT.validate_json(data)
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"])) or "it"
        raise ValueError(f"not the list of a backup: {where}: {error.errors()[0]['msg']}") from None
    if manifest.encode() != data:
        raise ValueError("not the list that was written: its digest is another, or its form")
    return manifest


_DOCUMENT = TypeAdapter(Manifest)
