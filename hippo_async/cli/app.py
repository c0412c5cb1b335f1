"""All commands in one place."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points

import typer

from hippo_async.cli import (
    anchoring,
    backing,
    config,
    evaluating,
    finding,
    forgetting,
    keys,
    layers,
    maintaining,
    mending,
    migrating,
    proving,
    reading,
    remembering,
)
from hippo_async.cli.output import FAILED, errors
from hippo_async.errors import MissingExtra

PLUGINS = "hippo_async.commands"
"""Entry points of this group are further commands: adapters bring theirs along."""


def build() -> typer.Typer:
    """Put the application together, with the commands that installed adapters bring."""
    app = typer.Typer(
        name="hippo",
        help="Long-term memory for agents that can be proved. Exit codes: 0 done, 1 a store is not intact or "
        "a proof does not hold, 2 wrong use, 3 any other error.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
    )
    for command in (
        reading.status,
        reading.log,
        finding.recall,
        finding.brief,
        remembering.remember,
        remembering.checkpoint,
        remembering.task,
        remembering.reinforce,
        remembering.reviews,
        remembering.tags,
        layers.diary,
        layers.semantic,
        layers.trends,
        forgetting.forget,
        forgetting.unforget,
        forgetting.deletes,
        reading.verify,
        proving.prove,
        mending.repair,
        mending.salvage,
        backing.backup,
        backing.restore,
        maintaining.maintain,
        migrating.migrate,
    ):
        app.command()(command)
    app.command("check-proof")(proving.check)
    app.add_typer(anchoring.app, name="anchor")
    app.add_typer(evaluating.app, name="bench")
    app.add_typer(config.app, name="config")
    app.add_typer(keys.app, name="key")
    app.add_typer(mending.witness, name="witness")
    for plugin in sorted(entry_points(group=PLUGINS), key=lambda found: found.name):
        app.command(plugin.name)(_loaded(plugin))
    return app


def _loaded(plugin: EntryPoint) -> Callable[..., None]:
    """Load an adapter's command; without what the adapter needs it is one that says so."""
    try:
        command: Callable[..., None] = plugin.load()
        return command
    except ImportError as error:
        return _unavailable(plugin.name, str(error))


def _unavailable(name: str, missing: str) -> Callable[[], None]:
    def say() -> None:
        """Not available: call it to see what it needs."""
        errors.print(f"[bold red]{MissingExtra.code}[/]", f"hippo {name} cannot be loaded: {missing}.")
        errors.print("Install the extra of its adapter, such as: pip install 'hippo-async[langchain]'")
        raise typer.Exit(FAILED)

    return say


def main() -> None:
    """Run ``hippo``."""
    build()()
