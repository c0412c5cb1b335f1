"""Deciding which memories answer a query. Pure: it reads nothing and keeps nothing on disk."""

from __future__ import annotations
