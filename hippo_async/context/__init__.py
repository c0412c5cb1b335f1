"""The context window: how large it is, what leaves it when it is full, and what remains of that. Pure."""

from hippo_async.context.clip import clip, fits
from hippo_async.context.counting import RememberedCounts
from hippo_async.context.evict import EvictionPlan, pairs_hold, plan_eviction
from hippo_async.context.fold import Fold, fold_text
from hippo_async.context.tokens import estimate_tokens, message_tokens

__all__ = [
    "EvictionPlan",
    "Fold",
    "RememberedCounts",
    "clip",
    "estimate_tokens",
    "fits",
    "fold_text",
    "message_tokens",
    "pairs_hold",
    "plan_eviction",
]
