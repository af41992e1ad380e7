"""The table of breakpoints: what is set, what it matches, how often it was hit."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pyfuncdbg.hooks.call import Call, CallSite, Kind


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """TO BE DONE."""

    number: int


@dataclass(frozen=True, slots=True)
class Hit:
    """A breakpoint that a call has hit.

    Attributes:
        breakpoint: Which.
        error: What its predicate raised, None if it was true.
    """

    breakpoint: Breakpoint
    error: Exception | None = None


class Tests(Protocol):
    """The breakpoints at one site. Each method gives those that stop; it carries out the ones that log or snap."""

    def before(self, call: Call) -> Sequence[Hit]:
        """Tested with the inputs."""

    def after(self, call: Call, outputs: Sequence[Any]) -> Sequence[Hit]:
        """Tested with the outputs."""

    def error(self, call: Call, error: BaseException) -> Sequence[Hit]:
        """Tested when it has raised."""


class Breakpoints:
    """All breakpoints of the process."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        self._on_change = on_change

    @property
    def kinds(self) -> frozenset[Kind]:
        """The calls that they need, beside those of Python functions."""
        return frozenset()

    def at(self, site: CallSite) -> Tests | None:
        """The enabled ones at a site, None if there are none: one look into a dict."""
        return None
