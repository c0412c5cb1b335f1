"""``hippo key``: making, checking and changing the agent's secret. Never prints it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from hippo_async.cli.output import console, print_json, reported
from hippo_async.cli.store import Agent, DataDir, Json, KeyFile, Store
from hippo_async.errors import KeyFileError
from hippo_async.files import Files
from hippo_async.journal import make_key, read_key

app: typer.Typer = typer.Typer(
    help="Make, check or change a key file (64 hex digits, mode 0600).", no_args_is_help=True
)
KeyPath = Annotated[Path, typer.Argument(help="The key file.")]


@app.command("new")
def new(path: KeyPath, as_json: Json = False) -> None:
    """Make a new random key. A file that is there is never overwritten."""
    files = Files()
    with reported(as_json=as_json):
        if files.exists(path):
            raise KeyFileError(f"{path}: there is a file already; a lost key cannot be made again")
        make_key(files, path)
    _say(path, "made", as_json=as_json)


@app.command("check")
def check(path: KeyPath, as_json: Json = False) -> None:
    """Say whether a key file is one, and closed to others."""
    with reported(as_json=as_json):
        read_key(Files(), path)
    _say(path, "good", as_json=as_json)


@app.command("rotate")
def rotate(
    data_dir: DataDir = None, agent: Agent = "agent", key_file: KeyFile = None, as_json: Json = False
) -> None:
    """Change the key: close the journal and go on in a new one. Refused while an agent has the store open.

    The old key is needed to read what was sealed with it: keep its file. Whoever stole it can no longer add
    to the journal or change what is in it.
    """
    store = Store.named(data_dir, agent, key_file)
    with reported(as_json=as_json), closing(store.lineage(read_only=False)) as journal:
        journal.open()
        journal.rotate()
        facts = {"epoch": journal.live.epoch, "journal": str(journal.live.root), "seq": journal.tail.seq}
    if as_json:
        print_json(facts)
        return
    text = f"key epoch {facts['epoch']} from seq {facts['seq']} on, in {facts['journal']}"
    console.print(text, highlight=False, soft_wrap=True, markup=False)


def _say(path: Path, state: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"path": str(path), "state": state})
    else:
        console.print(f"{path}: {state}", highlight=False, soft_wrap=True)
