"""What a prompt is told of earlier days: selected, framed as data, within a budget."""

from hippo_async.briefing.compose import BriefItem, compose, is_briefing, select_recent
from hippo_async.briefing.guard import trusted

__all__ = ["BriefItem", "compose", "is_briefing", "select_recent", "trusted"]
