"""The functions, running frames and suspended generators of the program, by file.

Asked by `LineBreakpoints` under its lock, on whatever thread sets a breakpoint or comes to a call. Functions are searched
in the heap: aliases, closures and what a decorator hides are in no module's attributes.
"""
from __future__ import annotations

import sys
import threading
import time
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import CO_OPTIMIZED
from types import AsyncGeneratorType, CodeType, CoroutineType, FrameType, FunctionType, GeneratorType
from typing import Any

from pyfuncdbg.hooks.current_frames import current_frames
from pyfuncdbg.hooks.live_objects import find_objects
from pyfuncdbg.hooks.own_files import is_library, is_machinery
from pyfuncdbg.hooks.source_map import is_generated_file, program_code
from pyfuncdbg.observers.debug.lines.name_resolution import function_names

_FRAMES: dict[type, str] = {GeneratorType: 'gi_frame', CoroutineType: 'cr_frame', AsyncGeneratorType: 'ag_frame'}


@dataclass(frozen=True, slots=True)
class Activation:
    """A frame of the program that runs or waits in a `yield`.

    Attributes:
        frame: It.
        thread: `threading.get_ident` of the thread it is on, 0 if it is suspended.
    """

    frame: FrameType
    thread: int


class LiveFunctions:
    """Functions, frames and generators that lived at one moment; it keeps none of them alive.

    Attributes:
        filenames: Of all functions.
        made: `time.monotonic` of the look.
    """

    def __init__(self) -> None:
        functions: dict[str, list[weakref.ref[FunctionType]]] = {}
        self._suspended: list[weakref.ref[Any]] = []
        for item in find_objects(FunctionType, *_FRAMES):
            kind = type(item)
            # Python makes a function for the text of a module or a class too, for as long as that runs.
            if kind is FunctionType and item.__code__.co_flags & CO_OPTIMIZED:
                functions.setdefault(item.__code__.co_filename, []).append(weakref.ref(item))
            elif kind is not FunctionType:
                self._suspended.append(weakref.ref(item))
        self._functions = functions
        self._generated = [name for name in functions if is_generated_file(name)]
        self.filenames = {name for name in functions if not is_machinery(name)} - set(self._generated)
        self._named: dict[str, set[str]] | None = None
        self.made = time.monotonic()

    def functions(self, filename: str) -> list[FunctionType]:
        """The functions of a file that are still alive."""
        return [function for known in self._functions.get(filename, ()) if (function := known()) is not None]

    def named(self, name: str) -> set[str]:
        """The program's own files that have functions of a name, or of a qualified name, also inside of others."""
        if self._named is None:
            self._named = {}
            for filename in self.filenames:
                if not is_library(filename):
                    for code in {function.__code__ for function in self.functions(filename)}:
                        for one in function_names(code):
                            self._named.setdefault(one, set()).add(filename)
        return self._named.get(name, set())

    def generated_code(self, filename: str) -> list[CodeType]:
        """Code that a framework generated from functions of a file, and that lives."""
        codes = {id(code): code for name in self._generated for function in self.functions(name)
                 if program_code(code := function.__code__).co_filename == filename}
        return list(codes.values())

    def suspended_frames(self, filename: str) -> list[FrameType]:
        """Frames of a file's generators and coroutines that wait or run."""
        found = (generator for known in self._suspended if (generator := known()) is not None)
        frames = (getattr(generator, _FRAMES[type(generator)]) for generator in found)
        return [frame for frame in frames if frame is not None and frame.f_code.co_filename == filename]


def running_frames() -> Iterator[Activation]:
    """The frames on the stacks of all threads, this one's included."""
    here = threading.get_ident()
    for thread, innermost in current_frames().items():
        frame: FrameType | None = sys._getframe(1) if thread == here else innermost
        while frame is not None:
            yield Activation(frame, thread)
            frame = frame.f_back
