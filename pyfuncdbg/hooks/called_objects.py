"""Objects of the program that a run is a call of, such as a module.

`debug` of one debugs these runs. A host gives them to observers, on the thread of the run.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

CALLED_OBJECTS = '_called_objects'
"""Attribute of a site of runs: its `CalledObjects`."""
CalledObjects = Callable[[int], Iterable[Any]]
"""The objects of a run, by the run's number: that which was called, and what it has wrapped."""
