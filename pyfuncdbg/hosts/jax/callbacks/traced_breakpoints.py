"""`jax.debug.breakpoint`: a stop at our prompt, in frames of the traced function, with the values of this execution.

JAX keeps the frames when it traces a function, and fills in the values of their variables when the compiled program calls
back, on that thread. They are made frames again here, so that a debugger can show them.
"""
from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Sequence
from types import CodeType, FrameType
from typing import Any

from pyfuncdbg.hooks.call_frames import is_inside_function
from pyfuncdbg.hooks.own_files import is_machinery
from pyfuncdbg.hosts.jax.jax_parts import JaxParts

_NAME = 'pyfuncdbg'
_PRIORITY = 100                                 # JAX's own have -2 to 1
_ENTER = '__pyfuncdbg_enter__'
_DEFINITION = re.compile(r'\s*(?:async\s+)?def\s+(\w+)|.*\blambda\b')


class TracedBreakpoints:
    """Our entry in JAX's registry of debuggers."""

    def __init__(self, parts: JaxParts) -> None:
        self._registry: dict[str, tuple[int, Any]] = parts.debugger._debugger_registry
        self._register: Callable[[str, Any, int], None] = parts.debugger.register_debugger

    def install(self) -> None:
        """Register."""
        self._registry.pop(_NAME, None)
        self._register(_NAME, self._stop, _PRIORITY)

    def remove(self) -> None:
        """Leave the registry."""
        self._registry.pop(_NAME, None)

    def _stop(self, frames: Sequence[Any], thread_id: int | None, **settings: Any) -> None:
        """Stop in the frames of a traced function, as JAX gives them: innermost first."""
        if not is_inside_function(sys._getframe()):      # no hook watches: JAX's own debugger
            others = [entry for name, entry in self._registry.items() if name != _NAME]
            if others:
                max(others, key=lambda entry: entry[0])[1](frames, thread_id, **settings)
            return
        depth = _traced_depth(sys._getframe(1), len(frames))
        shown = [frame for frame in frames[:depth] if not is_machinery(frame.filename)]
        enter: Callable[[], Any] = sys.breakpointhook
        for place, frame in enumerate(shown):
            enter = _entered(frame, enter, is_innermost=not place)
        enter()


def _traced_depth(caller: FrameType, count: int) -> int:
    """How many of the frames, from the innermost on, are of traced functions: others had their values while JAX traced.

    Args:
        caller: The frame of JAX's callback, which holds their structure.
        count: Number of all frames.
    """
    tree = caller.f_locals.get('frames_tree')
    if tree is None:
        return count
    traced = [place for place, frame in enumerate(tree.children()) if frame.num_leaves]
    return traced[-1] + 1 if traced else min(count, 1)


def _entered(frame: Any, enter: Callable[[], Any], *, is_innermost: bool) -> Callable[[], Any]:
    """A function that makes a frame of a traced function again, and calls `enter` in it."""
    variables = {**_globals_of(frame.filename), _ENTER: enter}
    code = _code(frame, is_innermost=is_innermost)
    return lambda: exec(code, variables, dict(frame.locals))


def _code(frame: Any, *, is_innermost: bool) -> CodeType:
    """Code of the frame's file, function and line that calls what is under `_ENTER`, and begins where the function does.

    A debugger stops at the next line: in the innermost frame that is the frame's own.
    """
    begin = max(frame.lineno - (frame.offset or 0), 1)
    line = max(frame.lineno, 1) - (begin - 1)   # lines of code count from its beginning, which is set below
    call: ast.stmt = ast.Expr(ast.Call(ast.Name(_ENTER, ast.Load()), [], []))
    body = [call]
    for node in ast.walk(call):
        if isinstance(node, (ast.stmt, ast.expr)):
            node.lineno = node.end_lineno = line + 1 if is_innermost else line
            node.col_offset = node.end_col_offset = 0
    if is_innermost:
        body.append(ast.Pass(lineno=line, end_lineno=line, col_offset=0, end_col_offset=0))
    code = compile(ast.Module(body, []), frame.filename, 'exec')
    name = _function_name(frame)
    return code.replace(co_name=name, co_qualname=name, co_firstlineno=begin)


def _function_name(frame: Any) -> str:
    """The name of the function that a frame of JAX's is of, from its source."""
    source = frame.source or ()
    if not source or not source[0].lstrip().startswith(('@', 'def ', 'async ')):
        return '<lambda>' if source and _DEFINITION.match(source[0]) else '<module>'
    for line in source:
        if match := _DEFINITION.match(line):
            return match[1] or '<lambda>'
    return '<module>'


def _globals_of(filename: str) -> dict[str, Any]:
    """The global names of the module of a file."""
    for module in list(sys.modules.values()):
        if getattr(module, '__file__', None) == filename:
            return vars(module)
    return {}
