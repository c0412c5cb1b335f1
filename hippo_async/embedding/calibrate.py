"""How alike two unrelated texts look to a model that nobody has measured yet.

Models differ widely: under one, two unrelated turns of a conversation have a cosine of 0.19, under another
0.84. A threshold on the bare cosine would call everything new under the first and nothing under the second.
"""

from __future__ import annotations

from hippo_async.protocols import Vectors

UNRELATED = (
    "Hey! Good to hear from you, how have you been since we last talked?",
    "I've been so busy with work lately, but I finally took a day off yesterday.",
    "Wow, that's great news! You must be really proud of yourself.",
    "Thanks, that means a lot to me. My family was a big help with it.",
    "Last weekend we went hiking with the kids and had a great time.",
    "I'm thinking about starting a small business with a friend of mine.",
    "That sounds like fun! What kind of things did you make there?",
    "I love how music helps me to relax after a long day.",
    "My dog got sick last week, so we had to go to the vet.",
    "I just signed up for a cooking class, I'm really excited to learn something new.",
    "Yeah, it was hard at first, but I learned a lot about myself.",
    "Do you have any plans for the summer? We might go to the beach.",
    "I lost my job last month, but I am trying to stay positive.",
    "This book changed how I think about life, you should read it.",
    "We won our game last night, the whole team was amazing!",
    "Take care, and let me know how your exam goes next week.",
)
"""Turns that have only their tone in common. The sample gives 0.18 and 0.16 for two models whose means over
thousands of real turns are 0.19 and 0.18."""


def mean_cosine(vectors: Vectors) -> float:
    """Return the mean cosine over all pairs of different rows; rows are normalised, and at least two."""
    count = len(vectors)
    total = vectors.sum(axis=0, dtype=float)
    return float((total @ total - count) / (count * (count - 1)))
