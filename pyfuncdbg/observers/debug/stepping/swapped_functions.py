"""Originals of functions replaced by `swap`, restored when the user leaves the debugger.

Written on stopped threads, by commands; read by whichever thread leaves.
"""
from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.hooks.locks import new_lock


class SwappedFunctions:
    """The function of each site before its first swap."""

    def __init__(self) -> None:
        self._lock = new_lock()
        self._originals: WeakKeyDictionary[CallSite, tuple[Callable[..., Any], int]] = WeakKeyDictionary()

    def note(self, site: CallSite, original: Callable[..., Any] | None, count: int) -> None:
        """A site's function was replaced.

        Args:
            site: Whose.
            original: What it was just before.
            count: Of inputs that it is called with.
        """
        if original is not None:
            with self._lock:
                known = self._originals.setdefault(site, (original, count))
                if known[0] is site.function:
                    del self._originals[site]   # the user has brought it back

    def put_back(self) -> None:
        """Let every site call the program's own function again, from its next call on."""
        with self._lock:
            originals = list(self._originals.items())
            self._originals.clear()
        for site, (function, count) in originals:
            with contextlib.suppress(ValueError):           # the program has replaced the site's function by itself
                site.host.replace(site, function, count)
