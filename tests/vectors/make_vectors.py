"""Make the test vectors: ``python make_vectors.py`` writes them beside itself. A test keeps them equal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from canonical_vectors import canonical, keys
from damaged_heads import damaged_heads, unfinished
from damaged_segments import damaged_segments
from reference import jcs, sha256
from v1_vectors import AGENT, streams, v1, v1_anchored
from v2_vectors import Store, stores, v2

NOVELTIES = ("routine", "novel", "prediction_error")


def build() -> dict[str, bytes]:
    """Return every data file by its path below this directory."""
    made = {
        **streams(),
        **{path: data for store in stores().values() for path, data in store.files().items()},
    }
    tables = {
        "canonical": canonical(),
        "keys": keys(),
        "v1": v1(),
        "v2": v2(),
        "journals": journals(),
        "anchors": anchors(),
    }
    for name, table in tables.items():
        made[f"{name}.json"] = (json.dumps(table, ensure_ascii=False, indent=1) + "\n").encode()
    return made


def journals() -> dict[str, Any]:
    """The stored journals and what is done to them."""
    return {
        "journals": [_journal(store) for store in stores().values()],
        "damaged": damaged_segments() + damaged_heads(),
        "unfinished": unfinished(),
    }


def _journal(store: Store) -> dict[str, Any]:
    return {
        "name": store.name,
        "agent_id": store.journal.agent_id,
        "master_key": store.journal.master.hex(),
        "journal_id": store.journal.journal_id,
        "epoch": store.journal.epoch,
        "generation": store.generation,
        "segments": [first for first, _ in store.spans],
        "last": store.last,
        "ids": [record["record_id"] for record in store.journal.records],
        "purged": sorted(store.purged),
        "closed": store.journal.records[-1]["type"] == "close",
    }


def anchors() -> list[dict[str, Any]]:
    """Anchors of days with records, without, and of a day whose records were purged since."""
    plain = stores()["plain"]
    made = [
        _anchor("plain", day, _v2_anchored(plain, day)) for day in ("2026-01-01", "2026-01-02", "2026-01-03")
    ]
    before, after = stores()["unpurged"], stores()["purged"]
    made += [
        _anchor(store.name, "2026-01-02", _v2_anchored(store, "2026-01-02")) for store in (before, after)
    ]
    made += [_anchor("v1", day, v1_anchored(day)) for day in ("2026-01-01", "2026-01-02")]
    return made


def _v2_anchored(store: Store, day: str) -> list[dict[str, str]]:
    found = []
    for record in store.journal.records:
        header = json.loads(record["header"])
        if header["timestamp"].startswith(day):
            names = {name: header[name] for name in ("timestamp", "novelty")}
            found.append({"record_id": record["record_id"], **names})
    return found


def _anchor(journal: str, day: str, records: list[dict[str, str]]) -> dict[str, Any]:
    ids = [record["record_id"] for record in records]
    joined = "|".join(sorted(ids))
    payload = {
        "agent_id": AGENT,
        "date": day,
        "count": len(ids),
        "dna_hash": sha256(joined),
        "novelty_distribution": {
            name: sum(record["novelty"] == name for record in records) for name in NOVELTIES
        },
        "first_id": ids[0] if ids else None,
        "last_id": ids[-1] if ids else None,
    }
    return {
        "journal": journal,
        "date": day,
        "joined": joined,
        "payload": jcs(payload),
        "anchor_payload_hash": sha256(jcs(payload)),
    }


if __name__ == "__main__":
    here = Path(__file__).parent
    for path, data in build().items():
        (here / path).parent.mkdir(parents=True, exist_ok=True)
        (here / path).write_bytes(data)
