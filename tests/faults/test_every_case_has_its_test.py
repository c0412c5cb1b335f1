"""The table of fault cases names tests that are there, and every test that names a case stands in it."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parents[1]
IDS = [f"F{number:02}" for number in range(1, 51)]
CASES: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("cases.toml").read_text())


def functions_of(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the tests of a file, named as in the table, with what each says of itself."""
    name = path.relative_to(TESTS).as_posix()
    for node in ast.parse(path.read_bytes()).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield f"{name}::{node.name}", ast.get_docstring(node) or ""


@pytest.fixture(scope="module")
def written() -> dict[str, set[str]]:
    """The tests that there are, and the cases they say they show."""
    files = TESTS.glob("*/test_*.py")
    return {
        name: set(re.findall(r"\bF\d\d\b", said))
        for path in sorted(files)
        for name, said in functions_of(path)
    }


def test_there_are_fifty_cases_in_order() -> None:
    assert list(CASES) == IDS


@pytest.mark.parametrize("case", IDS)
def test_a_case_has_a_test_or_a_reason_why_not(case: str, written: dict[str, set[str]]) -> None:
    entry = CASES[case]
    assert entry.keys() <= {"case", "tests", "open", "does_not_apply"}
    assert entry.get("tests") or entry.get("open") or entry.get("does_not_apply")
    assert not (entry.get("tests") and entry.get("does_not_apply"))
    assert [name for name in entry.get("tests", []) if name not in written] == [], "no such test"
    assert len(set(entry.get("tests", []))) == len(entry.get("tests", [])), "a test stands there twice"


def test_a_test_that_names_a_case_stands_in_the_table(written: dict[str, set[str]]) -> None:
    unlisted = [
        f"{case} {name}"
        for name, cases in written.items()
        for case in sorted(cases)
        if name not in CASES[case].get("tests", [])
    ]
    assert unlisted == []
