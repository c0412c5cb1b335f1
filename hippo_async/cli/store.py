"""The options that say which memory is meant, and how a command opens it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from hippo_async.cli.output import progress, reported
from hippo_async.engine import find_keys
from hippo_async.files import Files
from hippo_async.hippocampus import Hippocampus
from hippo_async.journal import Keyring, Lineage
from hippo_async.journal.lineage import epochs_in, journal_directory
from hippo_async.journal.repair import Repair
from hippo_async.place import Place, default_data_dir, default_witness

DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", "-d", help="Where the memory lies. [env: HIPPO_DATA_DIR]", show_default=False),
]
Agent = Annotated[str, typer.Option("--agent", "-a", help="Whose memory it is.", envvar="HIPPO_AGENT")]
KeyFile = Annotated[
    Path | None,
    typer.Option(
        "--key-file",
        help="The agent's key; agent.key in the data directory if not given.",
        envvar="HIPPO_KEY_FILE",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Scope = Annotated[
    list[str] | None, typer.Option("--scope", help="The scope to look in; repeat for its elements.")
]
RecordName = Annotated[
    str, typer.Argument(metavar="ID", help="Its id, or the first 6 or more digits of it.", show_default=False)
]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Store:
    """Which memory a command is about."""

    data_dir: Path
    agent_id: str
    key_file: Path | None

    @classmethod
    def named(cls, data_dir: Path | None, agent_id: str, key_file: Path | None) -> Store:
        """Take the options as they were given; the default data directory if none was."""
        return cls(data_dir or default_data_dir(), agent_id, key_file)

    @contextmanager
    def journal(self) -> Iterator[Lineage]:
        """Open the journal to read it, also while an agent writes. Raises what opening raises."""
        with closing(self.lineage(read_only=True)) as journal:
            journal.open()
            yield journal

    def lineage(self, *, read_only: bool = False) -> Lineage:
        """The agent's journals, not open yet. Raises :class:`~hippo_async.errors.KeyFileError`."""
        return Lineage(
            self.data_dir,
            agent_id=self.agent_id,
            keys=self._keys,
            witness=default_witness(),
            read_only=read_only,
        )

    def repairs(self) -> list[Repair]:
        """One repair for each of the agent's journals. Raises :class:`~hippo_async.errors.KeyFileError`."""
        keys, witness = self._keys, default_witness()
        return [
            Repair(journal_directory(self.data_dir, epoch), self.agent_id, keys.key(epoch), witness)
            for epoch in epochs_in(self.data_dir, Files())
        ]

    @property
    def _keys(self) -> Keyring:
        place = Place(self.data_dir, self.agent_id, None, self.key_file, default_witness())
        return find_keys(place, Files(), make=False)

    def ask(self, question: Callable[[Hippocampus], Awaitable[T]], *, as_json: bool) -> T:
        """Open the whole memory without a model, ask it something, close it; an error ends the command."""

        async def answer() -> T:
            async with self.memory(embedder="none", as_json=as_json) as memory:
                return await question(memory)

        with reported(as_json=as_json):
            return asyncio.run(answer())

    @asynccontextmanager
    async def memory(self, *, embedder: str, as_json: bool) -> AsyncIterator[Hippocampus]:
        """Open the whole memory; a bar shows how far the index is brought up."""
        memory = Hippocampus(
            self.data_dir,
            agent_id=self.agent_id,
            key_file=self.key_file,
            embedder=embedder,
            maintenance=False,
        )
        with progress("indexing", as_json=as_json) as bar:
            [task] = bar.task_ids
            await memory.open(lambda done, total: bar.update(task, completed=done, total=total))
        try:
            yield memory
        finally:
            await memory.close()
