"""How well memory finds what answers a question, measured on conversations with known evidence."""

from hippo_async.evaluation.briefing import Briefed, BriefedSummary, measure_briefings, summarize_briefings
from hippo_async.evaluation.locomo import CATEGORIES, Conversation, Question, Said, read_conversations
from hippo_async.evaluation.metrics import DEPTHS, Answer, Summary, by_category, percentile, summarize
from hippo_async.evaluation.running import DEPTH, Run, measure

__all__ = [
    "CATEGORIES",
    "DEPTH",
    "DEPTHS",
    "Answer",
    "Briefed",
    "BriefedSummary",
    "Conversation",
    "Question",
    "Run",
    "Said",
    "Summary",
    "by_category",
    "measure",
    "measure_briefings",
    "percentile",
    "read_conversations",
    "summarize",
    "summarize_briefings",
]
