"""Stack filter that keeps our frames out of TensorFlow's stacks of nodes, which its messages show.

Under `pyfuncdbg run` the frames of the runner are filtered, too. Installed by the attachment.
"""
from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

from pyfuncdbg.hooks.call_frames import RUNNERS


class OwnFrameFilter:
    """TensorFlow's own filter of stacks, on every thread, with our files in it."""

    def __init__(self, stacks: Any, files: frozenset[str]) -> None:
        self._stacks: Any = stacks._source_filter_stacks
        self._files = files

        class Filter(stacks.StackTraceFilter):  # type: ignore[misc]
            """The outermost filter of a thread."""

            def __init__(self) -> None:
                super().__init__()
                self.internal_set.update_to(set(files))

            def get_filtered_filenames(self) -> frozenset[str]:
                return files

        self._filter: Any = Filter
        self._factory: Callable[[], Any] | None = None
        self._replaced_filters: dict[int, tuple[Any, Any]] = {}

    def install(self) -> None:
        """Install it; a thread that is inside of another filter keeps that."""
        self._factory = self._stacks.default_factory
        self._stacks[threading.get_ident()]     # makes that of this thread
        for thread, stack in list(self._stacks.items()):
            if len(stack) == 1:
                self._replaced_filters[thread] = stack[0], self._filter()
                stack[0] = self._replaced_filters[thread][1]
        self._stacks.default_factory = lambda: [self._filter()]

    def remove(self) -> None:
        """Put TensorFlow's filters back."""
        self._stacks.default_factory = self._factory
        for thread, stack in list(self._stacks.items()):
            if type(stack[0]) is self._filter:
                pair = self._replaced_filters.get(thread)
                stack[0] = pair[0] if pair is not None and self._factory is not None else self._factory()[0]  # type: ignore[misc]
        self._replaced_filters.clear()


def own_files(*files: str) -> frozenset[str]:
    """These files, and under `pyfuncdbg run` those of the frames that run the program."""
    names: list[str] = list(files)
    frame = sys._getframe(1)
    runs = False
    while frame is not None:
        runs = runs or frame.f_code in RUNNERS
        if runs:
            names.append(frame.f_code.co_filename)
        frame = frame.f_back  # type: ignore[assignment]
    return frozenset(names)
