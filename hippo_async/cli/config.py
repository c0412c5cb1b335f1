"""``hippo config``: seeing, changing and checking the settings of a memory. Opens no journal."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from hippo_async.cli.output import console, errors, print_json, reported
from hippo_async.cli.store import DataDir, Json
from hippo_async.config import INVALID_FILE, ConfigError, Settings
from hippo_async.config.environment import variable
from hippo_async.config.faults import takes
from hippo_async.config.layers import Layered, layered
from hippo_async.config.names import Given
from hippo_async.config.settings import NAMES, from_text, values_of
from hippo_async.configuring import config_file, load_layers, read_text, save
from hippo_async.files import Files
from hippo_async.journal.moved import refuse_moved
from hippo_async.place import default_data_dir

app: typer.Typer = typer.Typer(help="See, change or check the settings of a memory.", no_args_is_help=True)


@app.command("show")
def show(
    defaults: Annotated[
        bool, typer.Option("--defaults", help="What holds where nothing is set; reads nothing.")
    ] = False,
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Show every setting: its value, where that comes from, and what it takes."""
    folder = data_dir or default_data_dir()
    with reported(as_json=as_json):
        found = Layered(Settings()) if defaults else load_layers(folder, os.environ, files=Files())
    settings = _described(found)
    if as_json:
        file = str(config_file(folder))
        print_json({"data_dir": str(folder), "file": file, "settings": settings})
        return
    table = Table("key", "value", "from", "takes", box=None)
    for key, facts in settings.items():
        table.add_row(key, *(escape(_said(facts[column])) for column in ("value", "source", "takes")))
    console.print(table)


@app.command("set")
def set_(
    key: Annotated[str, typer.Argument(help="A dotted key, such as raw.max_turn_kb or raw.maxTurnKb.")],
    value: Annotated[str, typer.Argument(help="Its new value.")],
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Change one setting in the file. An agent that has the memory open sees it when it opens it next."""
    folder = data_dir or default_data_dir()
    with reported(as_json=as_json):
        name = NAMES.leaf(key)
        change = Given(key, from_text(name, value, spelled=key))
        refuse_moved(config_file(folder).parent, Files())
        found = save({name: change}, folder, os.environ, files=Files())
    source = found.source(name)
    if source == variable(name):
        errors.print(f"{source} is set in this environment and goes before the file.", highlight=False)
    if as_json:
        print_json({"file": str(config_file(folder)), "key": name, "value": change.value})
    else:
        console.print(f"{name} = {_said(change.value)}", highlight=False, soft_wrap=True, markup=False)


@app.command("check")
def check(
    file: Annotated[
        Path | None, typer.Argument(help="A file; if none, what the memory would be opened with.")
    ] = None,
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Say whether all settings are known and allowed; exit code 2 if not."""
    folder = data_dir or default_data_dir()
    with reported(as_json=as_json):
        if file is None:
            load_layers(folder, os.environ, files=Files())
        else:
            _check(file)
    checked = str(file or config_file(folder))
    if as_json:
        print_json({"file": checked, "state": "good"})
    else:
        console.print(f"{checked}: good", highlight=False, soft_wrap=True, markup=False)


def _check(file: Path) -> None:
    files = Files()
    if not files.exists(file):
        raise ConfigError(str(file), "there is no such file", code=INVALID_FILE)
    layered(read_text(file, files), {}, file=str(file))


def _said(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _described(found: Layered) -> dict[str, dict[str, Any]]:
    return {
        key: {"value": value, "source": found.source(key), "takes": takes(NAMES.fields[key])}
        for key, value in values_of(found.settings).items()
    }
