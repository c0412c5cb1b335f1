"""The stored vectors of the journal format, and the names by which they call verdicts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hippo_async import errors

VECTORS = Path(__file__).parents[1] / "vectors"
VERDICTS: dict[type[Exception], str] = {
    errors.JournalCorrupt: "corrupt",
    errors.AcknowledgedLoss: "acknowledged_loss",
    errors.HeadMismatch: "head_mismatch",
    errors.RolledBack: "rolled_back",
    errors.ForeignJournal: "foreign",
    errors.WrongKey: "wrong_key",
    errors.FormatTooNew: "newer_format",
    errors.NotFound: "absent",
}


def table(name: str) -> Any:
    return json.loads((VECTORS / f"{name}.json").read_bytes())


def named(cases: list[dict[str, Any]]) -> pytest.MarkDecorator:
    """Run a test once for each case, under the name of the case."""
    return pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in cases])
