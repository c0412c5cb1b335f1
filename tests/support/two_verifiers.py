"""The second verifier and the package, asked the same way about the same journal."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from contextlib import closing
from pathlib import Path
from types import ModuleType

from journal_vectors import VECTORS, VERDICTS

from hippo_async import errors
from hippo_async.journal import Journal, Key
from hippo_async.testing import FakeClock

SCRIPT = Path(__file__).parents[2] / "examples" / "verify_journal.py"
AGENT = "агент-7"
MASTER = bytes(range(32))

Found = tuple[str, str | None, int | None, int | None]
"""Verdict, path, offset, seq."""
Tree = dict[str, bytes]
"""Files by path: the journal's own, and the witness's under ``witness/``."""


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("verify_journal", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up by its name
    spec.loader.exec_module(module)
    return module


second = load()


def by_script(root: Path, witness: Path, *, agent_id: str = AGENT, key: bytes = MASTER) -> Found:
    found = second.verify(root, agent_id=agent_id, key=key, witness=witness)
    return found.name, found.path, found.offset, found.seq


def by_package(root: Path, witness: Path) -> Found:
    """What opening says, and, if it has nothing against the journal, what the full walk says."""
    journal = Journal(
        root, agent_id=AGENT, key=Key(MASTER), witness=witness, read_only=True, clock=FakeClock()
    )
    with closing(journal):
        try:
            opened = journal.open()
        except errors.IntegrityError as error:
            return VERDICTS[type(error)], error.path.relative_to(root).as_posix(), error.offset, error.seq
        except (errors.FormatTooNew, errors.NotFound) as refusal:
            return VERDICTS[type(refusal)], None, None, None
        walked = journal.verify_chain()
        if not walked.intact:
            path = None if walked.path is None else walked.path.relative_to(root).as_posix()
            return "corrupt", path, walked.offset, walked.seq
        if opened.torn_bytes:
            live = max((root / f"gen-{journal.generation:06d}").glob("seg-*.jsonl"))
            offset = live.stat().st_size - opened.torn_bytes
            return "torn", live.relative_to(root).as_posix(), offset, opened.seq
        return "intact", None, None, opened.seq


def tree_of(root: Path, witness: Path) -> Tree:
    """Read a journal and its witness into memory; locks are no part of it."""
    own = {path.relative_to(root).as_posix(): path for path in root.rglob("*") if path.is_file()}
    seen = {f"witness/{path.name}": path for path in witness.glob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in {**own, **seen}.items() if not name.startswith("LOCK")}


def lay_out(tree: Tree, base: Path) -> tuple[Path, Path]:
    """Write a journal and its witness to an empty place; return the two directories."""
    root, witness = base / "journal", base / "witness"
    for folder in (root, witness):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    for name, data in tree.items():
        path = base / name if name.startswith("witness/") else root / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    return root, witness


def stored(name: str) -> Tree:
    """A journal of the vectors."""
    return tree_of(VECTORS / "v2" / name, VECTORS / "v2" / f"{name}.witness")
