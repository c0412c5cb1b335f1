"""What is done to a journal that was found sound, so that it may be served and written on."""

from __future__ import annotations

import secrets
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

from hippo_async.files import AppendFile, Files
from hippo_async.journal.acceptance import accept_draft
from hippo_async.journal.head import HeadFile, HeadState
from hippo_async.journal.layout import Closed, Layout, write_closed
from hippo_async.journal.mounts import network_file_system
from hippo_async.journal.recovery import Recovered, Torn
from hippo_async.journal.scan import ACCEPT
from hippo_async.journal.writer import Identity, Tail, seal_drafts


@dataclass(frozen=True, slots=True)
class OpenReport:
    """What opening a journal found and did.

    ``torn_bytes`` were cut from an unfinished last write; ``torn_copy`` is where they are kept, if there was
    room. ``notes`` say what is unusual and harmless.
    """

    journal_id: str
    created: bool
    seq: int
    torn_bytes: int = 0
    torn_copy: Path | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Settling:
    """The writer's side of opening, for one journal. ``witness`` is the directory of the second heads."""

    files: Files
    layout: Layout
    witness: Path | None

    def report(self, found: Recovered, *, created: bool, torn_copy: Path | None = None) -> OpenReport:
        """Say what was found, and what of it is unusual."""
        notes = []
        if found.head.damaged:
            notes.append("one slot of HEAD did not verify; the other did, and the journal holds all it names")
        if found.witnessed.damaged and found.witnessed.state is not None:
            notes.append("one slot of the witness did not verify; the other did")
        if self.witness is not None and found.witnessed.state is None and not created:
            state = "does not verify" if found.witnessed.damaged else "knows nothing of this journal yet"
            notes.append(f"the witness {state}; a rollback before now would not have been noticed")
        if kind := network_file_system(self.files, self.layout.root):
            notes.append(f"it lies on a network file system ({kind}): locks and syncs may not hold there")
        return OpenReport(
            journal_id=found.journal_id,
            created=created,
            seq=found.chain.seq,
            torn_bytes=0 if found.torn is None else found.torn.size,
            torn_copy=torn_copy,
            notes=tuple(notes),
        )

    def tidy(self, found: Recovered) -> Path | None:
        """Cut a torn tail, make durable what will be served, and list segments that a crash left unlisted.

        Returns where the torn bytes are kept.
        """
        copy = None if found.torn is None else self._cut(found.torn)
        live = self.layout.segment(found.generation, found.live)
        if self.files.exists(live):
            self.files.sync_file(live)
        if found.unlisted:
            found.closed.extend(found.unlisted)
            self._write_closed(found)
        if found.chain.closed and found.live_size:
            self.close_segment(
                found, found.live, Tail(found.chain.seq, found.chain.record_id), found.live_size
            )
        return copy

    def record_acceptance(self, found: Recovered, *, now: str) -> None:
        """Append what the owner accepts, before HEAD and the witness forget what they object to."""
        if not found.objections:
            return
        chain = found.chain
        [(record, line)] = seal_drafts(
            [accept_draft(found.objections, found.head.state, found.witnessed.state)],
            Tail(chain.seq, chain.record_id),
            Identity.of(found.journal_id, chain.agent_id, chain.epoch or 0),
            found.sealers.record,
            now=now,
            type_=ACCEPT,
        )
        path = self.layout.segment(found.generation, found.live)
        with closing(AppendFile(self.files, path)) as live:
            live.write(line)
            live.sync()
        chain.seq, chain.record_id = record.seq, record.record_id

    def open_heads(self, found: Recovered, opened: ExitStack) -> tuple[list[HeadFile], HeadState]:
        """Open HEAD and the witness and tell both where the chain ends and which generation is in force.

        ``opened`` closes them. Returns them and the state they were told.
        """
        files = self.files
        heads = [opened.enter_context(closing(HeadFile(files, self.layout.head, found.sealers.head)))]
        slots = [found.head.slot]
        if self.witness is not None:
            files.mkdir(self.witness)
            witness = HeadFile(files, self.witness / found.journal_id, found.sealers.witness)
            heads.append(opened.enter_context(closing(witness)))
            files.sync_dir(self.witness)
            slots.append(found.witnessed.slot)
        state = HeadState(
            found.journal_id,
            found.generation,
            found.next_number,
            found.chain.seq,
            found.chain.record_id or "",
        )
        for head, slot in zip(heads, slots, strict=True):
            head.start(state, newest_slot=slot)
        return heads, state

    def close_segment(self, found: Recovered, first: int, tail: Tail, size: int) -> None:
        """List a segment as closed, under its digest; it is never written again in this generation."""
        digest = self.files.sha256(self.layout.segment(found.generation, first))
        found.closed.append(Closed(first, tail.seq, tail.record_id or "", size, digest))
        self._write_closed(found)

    def _write_closed(self, found: Recovered) -> None:
        write_closed(
            self.files,
            self.layout,
            found.generation,
            found.closed,
            journal_id=found.journal_id,
            sealer=found.sealers.segments,
        )

    def _cut(self, torn: Torn) -> Path | None:
        """Keep a copy of the torn bytes if there is room, then cut them off."""
        copy = self._keep(torn)
        self.files.truncate(torn.path, torn.offset)
        return copy

    def _keep(self, torn: Torn) -> Path | None:
        copy = self.layout.torn / f"{torn.path.stem}-at-{torn.offset}-{secrets.token_hex(4)}"
        try:
            self.files.mkdir(self.layout.torn)
            self.files.write_atomic(copy, self.files.read_at(torn.path, torn.offset, torn.size))
        except OSError:
            return None  # a full disk must not keep the journal from opening
        return copy
