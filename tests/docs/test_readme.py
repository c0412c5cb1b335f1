"""The README's snippets run, and what it says of commands is true."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
SNIPPETS = re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", README, re.DOTALL)
"""Each with the output that stands below it, if any does."""

OFFLINE = """
import langchain.agents
from hippo_langchain.testing import ScriptedModel
_create = langchain.agents.create_agent
def _offline(model, *args, **kwargs):
    assert isinstance(model, str)
    return _create(ScriptedModel(script=lambda messages: "noted"), *args, **kwargs)
langchain.agents.create_agent = _offline
"""


def test_there_are_snippets() -> None:
    assert len(SNIPPETS) >= 3
    assert any(output for _, output in SNIPPETS)


@pytest.mark.process
@pytest.mark.parametrize("number", range(len(SNIPPETS)))
def test_a_snippet_runs(number: int, tmp_path: Path) -> None:
    """Each in a process of its own; a model named in it is replaced by one that needs no network."""
    snippet, output = SNIPPETS[number]
    program = tmp_path / "snippet.py"
    program.write_text(OFFLINE + snippet)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, str(program)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == output or not output


def test_every_make_target_that_is_named_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z-]+)`", README)) | {"demo", "test"} <= targets


def test_every_link_into_the_project_leads_somewhere() -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", README):
        assert link.startswith("http") or (ROOT / link).exists(), link
