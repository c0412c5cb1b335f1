"""``hippo key``: making and checking the agent's secret. Never prints it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hippo_async.cli.output import console, print_json, reported
from hippo_async.cli.store import Json
from hippo_async.errors import KeyFileError
from hippo_async.files import Files
from hippo_async.journal import make_key, read_key

app: typer.Typer = typer.Typer(
    help="Make or check a key file (64 hex digits, mode 0600).", no_args_is_help=True
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


def _say(path: Path, state: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"path": str(path), "state": state})
    else:
        console.print(f"{path}: {state}", highlight=False, soft_wrap=True)
