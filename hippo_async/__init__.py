"""An agent's long-term memory that can be proved.

from hippo_async import Hippocampus

async with Hippocampus("memory", agent_id="assistant") as memory:
    memory.capture("I am allergic to peanuts.", role="user")
    found = await memory.recall("allergic")
"""

from hippo_async.blocking import blocking
from hippo_async.briefing import is_briefing, one_line
from hippo_async.capture import Receipt
from hippo_async.config import Settings
from hippo_async.context import EvictionPlan, estimate_tokens, plan_eviction
from hippo_async.hippocampus import Hippocampus
from hippo_async.records import Briefing, Hit, Kind, Novelty, Recall, Record, Source, Turn
from hippo_async.status import Status

__all__ = [
    "Briefing",
    "EvictionPlan",
    "Hippocampus",
    "Hit",
    "Kind",
    "Novelty",
    "Recall",
    "Receipt",
    "Record",
    "Settings",
    "Source",
    "Status",
    "Turn",
    "blocking",
    "estimate_tokens",
    "is_briefing",
    "one_line",
    "plan_eviction",
]
