"""Calls of a DataLoader's functions in a trace, and facts about loaders, as judges ask for them.

On the thread that asks for a diagnosis.
"""
from __future__ import annotations

from pyfuncdbg.hooks.diagnosis import Evidence, Place, RecordedFact, Spot

OPS = 'DataLoader.'
"""How op types of these calls begin."""


def loader_spots(evidence: Evidence) -> list[Spot]:
    """The functions that loaders call, by place."""
    return [spot for spot in evidence.spots if spot.site.host == 'torch' and spot.site.op_type.startswith(OPS)]


def numbers(fact: RecordedFact, name: str) -> dict[str, int]:
    """A table of the fact's: numbers by text."""
    table = fact.data.get(name)
    return {key: value for key, value in table.items() if isinstance(key, str) and type(value) is int} if isinstance(
        table, dict) else {}


def line_text(place: Place) -> str:
    """'train.py:12'."""
    return f'{place.filename.rpartition("/")[2]}:{place.line}' if place.filename else 'an unknown line'
