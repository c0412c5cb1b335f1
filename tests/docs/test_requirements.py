"""The table of requirements in DESIGN.md leads from each id to its code and to its test."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
IDS = [
    *(f"M{number}" for number in range(1, 7)),
    *(f"J{number}" for number in range(1, 21)),
    *(f"L{number}" for number in range(1, 31)),
]
NOT_BUILT = "not built yet"


class Row(NamedTuple):
    """One requirement: where its code is, its tests, and those of them that fail so far."""

    code: list[str]
    tests: list[str]
    failing: list[str]
    is_built: bool


def rows() -> list[tuple[str, Row]]:
    """The table, row by row."""
    _, behind = (ROOT / "hippo_async/DESIGN.md").read_text().split("## Requirements\n")
    section = behind.partition("\n## ")[0]
    lines = [re.split(r" ?\| ?", line)[1:-1] for line in re.findall(r"^\| [A-Z]\d.*", section, re.MULTILINE)]
    return [(line[0], row_of(*line[2:])) for line in lines]


def row_of(code: str, tests: str) -> Row:
    named = re.findall(r"(not yet )?`([^`]+)`", tests)
    failing = [test for not_yet, test in named if not_yet]
    return Row(re.findall(r"`([^`]+)`", code), [test for _, test in named], failing, tests != NOT_BUILT)


TABLE = dict(rows())


@cache
def written(path: str) -> dict[str, bool]:
    """The tests of a file, and whether each is expected to fail."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [node for node in ast.parse((ROOT / path).read_bytes()).body if isinstance(node, functions)]
    return {
        node.name: any("xfail" in ast.unparse(mark) for mark in node.decorator_list)
        for node in nodes
        if node.name.startswith("test_")
    }


def test_each_id_has_one_row_in_order() -> None:
    assert [name for name, _ in rows()] == IDS


@pytest.mark.parametrize("name", IDS)
def test_a_requirement_leads_to_code_and_to_a_test_named_by_it(name: str) -> None:
    row = TABLE[name]
    assert bool(row.tests) == bool(row.code) == row.is_built
    assert [path for path in row.code if not (ROOT / path).is_file()] == []
    for test in row.tests:
        path, _, function = test.partition("::")
        assert function.startswith(f"test_{name.lower()}_")
        assert written(path)[function] == (test in row.failing), "a test that fails so far is called so"


def test_a_requirement_has_one_test_and_another_only_for_what_it_lacks() -> None:
    for name, row in TABLE.items():
        assert not row.is_built or len(set(row.tests) - set(row.failing)) == 1, name


def test_every_acceptance_test_stands_in_the_table() -> None:
    files = sorted((ROOT / "tests/requirements").glob("test_*.py"))
    paths = [path.relative_to(ROOT).as_posix() for path in files]
    there = [f"{path}::{function}" for path in paths for function in written(path)]
    listed = [test for row in TABLE.values() for test in row.tests]
    assert sorted(listed) == sorted(there)
