"""The at-rest family of the public suite ``agent-memory-integrity``, T1 to T9, run against this memory."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from agmi.attacks.at_rest import AT_REST_ATTACKS_WITH_SNAPSHOT
from agmi.check import LABELS, verdict

from hippo_async.errors import AcknowledgedLoss, IntegrityError, JournalCorrupt, RolledBack

if TYPE_CHECKING:
    from hippo_agmi import HippocampusAdapter

EDITS = {LABELS[attack.name]: attack for attack in AT_REST_ATTACKS_WITH_SNAPSHOT}
REFUSALS: dict[str, tuple[type[IntegrityError], int, str]] = {
    "T1 content tamper": (JournalCorrupt, 3, "the payload is not the one committed to"),
    "T2 tail truncation": (AcknowledgedLoss, 4, "HEAD acknowledged records up to 5, the journal ends at 3"),
    "T3 middle deletion": (JournalCorrupt, 3, "seq 4 where 3 belongs"),
    "T4 reordering": (JournalCorrupt, 2, "seq 3 where 2 belongs"),
    "T5 forged insertion": (JournalCorrupt, 6, "the seal does not match the header"),
    "T6 cross-context replay": (JournalCorrupt, 5, "the seal does not match the header"),
    "T7 rollback replay": (JournalCorrupt, 5, "seq 1 where 5 belongs"),
    "T8 metadata tamper": (JournalCorrupt, 3, "the payload is not the one committed to"),
    "T9 snapshot rollback": (RolledBack, 6, "the witness outside the store saw record 6"),
}
"""For each edit the error, the seq of the first record at fault, and why; the five memories are 1 to 5."""


@pytest.fixture
def make_adapter(monkeypatch: pytest.MonkeyPatch) -> type[HippocampusAdapter]:
    """Find the adapter as the suite's own command does: in this folder."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    found: type[HippocampusAdapter] = importlib.import_module("hippo_agmi").HippocampusAdapter
    return found


def test_the_suite_makes_the_edits_that_are_expected_here() -> None:
    """A release of the suite with a tenth edit is not passed over."""
    assert set(EDITS) == set(REFUSALS)


@pytest.mark.parametrize("edit", REFUSALS)
def test_an_edit_at_rest_is_rejected_on_the_read_path(
    make_adapter: type[HippocampusAdapter], edit: str
) -> None:
    """And at the place and for the reason that are this edit's, not for another."""
    adapter = make_adapter()
    result = EDITS[edit]().run(adapter)

    assert verdict(result, adapter) == "REJECTED", result
    error, seq, reason = REFUSALS[edit]
    assert isinstance(adapter.refusal, error)
    assert adapter.refusal.seq == seq
    assert reason in adapter.refusal.reason


def test_without_a_witness_a_rollback_of_the_whole_store_is_accepted(
    make_adapter: type[HippocampusAdapter],
) -> None:
    """The control: it is the witness that T9 is rejected by, and the adapter does not always say no."""
    adapter = make_adapter(witnessed=False)
    result = EDITS["T9 snapshot rollback"]().run(adapter)

    assert verdict(result, adapter) == "ACCEPTED", result


def test_an_untouched_store_serves_what_was_captured(make_adapter: type[HippocampusAdapter]) -> None:
    """The control: reading really reads, by both doors."""
    adapter = make_adapter()
    adapter.setup()
    try:
        adapter.seed(5)
        assert adapter.verify(), adapter.verify_detail
        stored = [adapter.payload_of(record) for record in adapter.read_all_raw()]
    finally:
        adapter.teardown()
    assert len(stored) == 5
    assert set(adapter.recalled) == set(stored)
    assert [text for text in adapter.served if text in stored] == stored
