"""Sites and runs as they go into the log: what is static, written once.

`SiteNote` is taken on the thread of the first call and keeps no function alive, only its code; the writer thread turns it
into plain data and says where its source text is.
"""
from __future__ import annotations

import contextlib
import itertools
import linecache
import types
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from pyfuncdbg.hooks.argument_form import ARGUMENT_FORM, NestedLayout
from pyfuncdbg.hooks.call import CallSite, Run
from pyfuncdbg.hooks.graph_context import RETURNED, SURROUNDINGS
from pyfuncdbg.hooks.patched_code import original_code, qualified_name_of
from pyfuncdbg.observers.record.sources.loaded_source import LoadedSources

_LONGEST_TEXT = 1000
_DEEPEST = 4
_MOST_ITEMS = 1000
_EXACT = 32
REMEMBERED = 1 << 16
"""Runs, sites and plans that a recorder remembers to have announced."""
TRAITS = '_traits'
"""The attribute under which a trace keeps the names of a site's traits."""
_OBJECTS = ('_arguments', '_call', '_remake', '_replace', '_py_', '_stop_', SURROUNDINGS)
"""Attributes that are no data: what a host keeps at a site to call it again."""


class SiteNote:
    """Description of a `CallSite`, without its function and host.

    Args:
        site: The site.
    """

    __slots__ = ('argument_form', 'attrs', 'code', 'function', 'host', 'id', 'inputs', 'kind', 'name', 'op_type',
                 'outputs', 'stack', 'traits')

    def __init__(self, site: CallSite) -> None:
        self.id = site.id
        self.name = site.name
        self.op_type = site.op_type
        self.kind = site.kind
        self.host = site.host.name
        self.function, self.code = name_and_code(site.function)
        if self.code is not None:               # of a module in an archive its loader gives the text
            linecache.lazycache(self.code.co_filename, getattr(site.function, '__globals__', {}))
        self.stack = site.stack
        self.inputs = site.inputs
        self.outputs = site.outputs
        self.traits = site.traits
        self.attrs: Mapping[str, Any] = site.attrs
        layout: NestedLayout | None = site.attrs.get('_arguments')
        self.argument_form = _form_of(layout) if layout is not None else site.attrs.get(ARGUMENT_FORM)
        if callable(read := site.attrs.get(RETURNED)):
            returned = read()
            attrs = {name: value for name, value in site.attrs.items() if name != RETURNED}
            self.attrs = {**attrs, RETURNED: returned} if returned else attrs

    def record(self, sources: LoadedSources) -> list[Any]:
        """Plain data for the log; reads source files, so it runs on the writer thread.

        Args:
            sources: Keeps the text of its function and of its creation stack.

        Returns:
            The fields that `decode.site_record` reads.
        """
        filename, line, source = '', 0, [0, 0]
        if self.code is not None:
            filename, line = self.code.co_filename, self.code.co_firstlineno
            source = sources.function(self.code)
        return [self.id, self.name, self.op_type, self.kind, self.host, self.function, filename, line, source,
                [[f[0], f[1], f[2]] for f in self.stack], list(self.inputs), list(self.outputs),
                {**plain_data({name: value for name, value in self.attrs.items() if not name.startswith(_OBJECTS)}),
                 **({ARGUMENT_FORM: self.argument_form} if self.argument_form is not None else {}),
                 TRAITS: self.traits.names},
                sources.frames(self.stack)]


def _form_of(layout: NestedLayout) -> list[Any]:
    form = layout.form()
    return form.plain() if form is not None else []


def name_and_code(function: Callable[..., Any] | None) -> tuple[str, types.CodeType | None]:
    """Name the function that the user wrote, below partials, methods, decorators and callable objects.

    Args:
        function: Of a site.

    Returns:
        Its qualified name and its code, where there is any.
    """
    if function is None:
        return '', None
    name = qualified_name_of(function)
    for _ in range(10):
        if isinstance(function, partial):
            function = function.func
        elif isinstance(function, types.MethodType):
            function = function.__func__
        elif isinstance(function, types.FunctionType) and callable(wrapped := vars(function).get('__wrapped__')):
            function = wrapped                  # by functools.wraps, which gives the wrapper its name
        else:
            break
        name = name or qualified_name_of(function)
    if not isinstance(function, types.FunctionType):
        method: Any = type(function).__call__
        own = function.__name__ if isinstance(function, np.ufunc) else None     # NumPy 1 gives it no __qualname__
        return str(name or own or type(function).__qualname__), getattr(method, '__code__', None)
    return str(name or function.__name__), original_code(function.__code__)


def plain_data(value: Any, depth: int = 0) -> Any:
    """Convert attributes to data that a log can hold. Never calls `repr`, which may be huge or do anything.

    Args:
        value: Anything.
        depth: Of the containers around it; deeper ones than `_DEEPEST` become the name of their type.

    Returns:
        Lists, dicts, text, bytes, numbers, bools and None.
    """
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int):
        return value if -(1 << 63) <= value < 1 << 63 else str(value)
    if isinstance(value, str):
        return value[:_LONGEST_TEXT]
    if isinstance(value, bytes):
        return value[:_LONGEST_TEXT]
    if depth < _DEEPEST:
        if isinstance(value, Mapping):
            return {str(k)[:_LONGEST_TEXT]: plain_data(v, depth + 1) for k, v in list(value.items())[:_MOST_ITEMS]}
        if isinstance(value, list | tuple | set | frozenset):
            return [plain_data(v, depth + 1) for v in list(value)[:_MOST_ITEMS]]
    name = getattr(value, 'name', None)
    return name[:_LONGEST_TEXT] if isinstance(name, str) else f'<{type(value).__qualname__}>'


def plan_key(run: Run) -> tuple[Any, ...]:
    """A key that is equal for runs that share kind, label, names and announced sites.

    Up to 32 sites count each; of longer lists the tuple's identity and 16 samples do, because hashing 10,000 ids would cost
    a fifth of the run that executes them.

    Args:
        run: The run.

    Returns:
        The key.
    """
    sites = run.sites
    if len(sites) <= _EXACT:
        ids: tuple[int, ...] = tuple([site.id for site in sites])
    else:
        ids = (id(sites), len(sites), sites[-1].id, *[site.id for site in sites[::len(sites) // 16]])
    return run.kind, run.label, run.host.name, tuple(run.feeds), tuple(run.fetches), ids


def plan_record(number: int, run: Run, site_ids: Sequence[int]) -> list[Any]:
    """Plain data of a plan for the log.

    Args:
        number: Of the plan.
        run: The names of one of its runs.
        site_ids: Of the announced sites, in order.

    Returns:
        The fields that `decode.plan_fields` reads.
    """
    packed = b''.join([i.to_bytes(8, 'little') for i in site_ids])
    return [number, run.label, run.host.name, list(run.feeds), list(run.fetches), packed, run.kind]


class RunNames:
    """Names of a run that `plan_record` reads, without the run."""

    __slots__ = ('feeds', 'fetches', 'host', 'kind', 'label')

    def __init__(self, run: Run) -> None:
        self.kind = run.kind
        self.label = run.label
        self.host = run.host
        self.feeds = run.feeds
        self.fetches = run.fetches


def remember(announced: dict[Any, Any], key: Any, value: Any) -> None:
    """Add to what was announced; beyond `REMEMBERED` the older half is forgotten, and announced again should it return.

    Half of it at once: looking for the oldest one of a dictionary takes longer the more were taken out before it.

    Args:
        announced: The table.
        key, value: The new entry.
    """
    announced[key] = value
    if len(announced) > REMEMBERED:
        with contextlib.suppress(RuntimeError):     # other threads add to it
            for old in list(itertools.islice(announced, REMEMBERED // 2)):
                announced.pop(old, None)
