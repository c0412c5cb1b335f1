"""An agent's data directory, with journals under one key after the other."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from two_verifiers import second

from hippo_async.files import Files
from hippo_async.journal import KeyFiles, Lineage
from hippo_async.records import Draft, Record
from hippo_async.testing import FakeClock, ScriptedOps

SECONDS = 20


@dataclass(frozen=True)
class Home:
    """An agent's data directory, the witness beside it, and the key files in it."""

    base: Path

    @property
    def data(self) -> Path:
        return self.base / "data"

    @property
    def witness(self) -> Path:
        return self.base / "witness"

    @property
    def keys(self) -> KeyFiles:
        return KeyFiles(Files(), self.data / "agent.key")

    def lineage(self, *, ops: ScriptedOps | None = None, read_only: bool = False, **given: object) -> Lineage:
        return Lineage(
            self.data,
            agent_id="agent",
            keys=given.get("keys", self.keys),  # type: ignore[arg-type]
            witness=self.witness,
            read_only=read_only,
            files=Files(ops or ScriptedOps(syncing=False)),
            clock=FakeClock(),
            segment_bytes=2000,
        )

    def texts(self) -> list[str]:
        with closing(self.lineage(read_only=True)) as journal:
            journal.open()
            return [record.text for record, _ in journal.scan() if record.type == "record"]

    def second_verdict(self) -> tuple[str, int | None]:
        """What the second verifier says of all journals together."""
        names = sorted(path.name for path in self.data.glob("journal*"))
        verdict = second.verify_rotated(
            [self.data / name for name in names],
            agent_id="agent",
            keys=[self.keys.key(epoch).secret for epoch in range(len(names))],
            witness=self.witness,
        )
        return verdict.name, verdict.seq


def say(journal: Lineage, *texts: str) -> list[Record]:
    return [journal.append([Draft(text)]).result(SECONDS)[0].record for text in texts]
