"""What can happen to a memory after it was written: pure rules, and the small records that say so."""

from __future__ import annotations

from hippo_async.lives.operations import Act, Operation, hidden_ids, operation_of

__all__ = ["Act", "Operation", "hidden_ids", "operation_of"]
