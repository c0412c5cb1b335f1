"""Commands that adapters bring along, and what is left of them without what they need."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest
from typer.testing import CliRunner

from hippo_async.cli import app


@pytest.fixture
def brought(monkeypatch: pytest.MonkeyPatch) -> None:
    """An adapter whose framework is not installed."""
    plugin = EntryPoint("dance", "a_framework_that_is_not_there.commands:dance", app.PLUGINS)
    monkeypatch.setattr(app, "entry_points", lambda group: [plugin])


@pytest.mark.usefixtures("brought")
def test_a_command_that_cannot_be_loaded_says_what_to_install() -> None:
    result = CliRunner().invoke(app.build(), ["dance"])
    assert result.exit_code == 3
    assert "MEM_E_MISSING_EXTRA" in result.output
    assert "a_framework_that_is_not_there" in result.output
    assert "pip install" in result.output


@pytest.mark.usefixtures("brought")
def test_and_all_others_work_without_it() -> None:
    result = CliRunner().invoke(app.build(), ["--help"])
    assert result.exit_code == 0
    assert "verify" in result.output
