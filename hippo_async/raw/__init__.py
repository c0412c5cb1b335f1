"""The forensic black box: day shards of verbatim turns, outside journal and index (L2-L10).

It answers one question, "what exactly was said then", and only when asked with a time window. The disk holds
plain text; secrets are taken out when a snippet leaves (L5).
"""

from __future__ import annotations

from hippo_async.raw.admission import Admission, Candidate, Reason, admit
from hippo_async.raw.erasing import Erasure
from hippo_async.raw.redact import redact
from hippo_async.raw.scan import RawScan, Sealed, Window, deep_raw
from hippo_async.raw.shards import RawShards
from hippo_async.raw.turn import RawTurn

__all__ = [
    "Admission",
    "Candidate",
    "Erasure",
    "RawScan",
    "RawShards",
    "RawTurn",
    "Reason",
    "Sealed",
    "Window",
    "admit",
    "deep_raw",
    "redact",
]
