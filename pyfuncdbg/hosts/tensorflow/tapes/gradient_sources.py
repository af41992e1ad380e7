"""The sources of a backward pass, as the program asked for them. Each is a gradient call too, so it has a name, and one that
got no gradient says why. Runs on the thread of the pass, at its end."""
from __future__ import annotations

import sys
from collections.abc import Sequence
from types import FrameType, ModuleType
from typing import Any

from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.hooks.chain import hooks, invoke, report_failure
from pyfuncdbg.hooks.own_files import outside_machinery
from pyfuncdbg.hosts.tensorflow.host import TensorFlowHost
from pyfuncdbg.hosts.tensorflow.python_calls.program_line import program_line
from pyfuncdbg.hosts.tensorflow.tapes.backward_pass import BackwardPass
from pyfuncdbg.hosts.tensorflow.tapes.backward_step import node_names, step_site
from pyfuncdbg.hosts.tensorflow.tapes.why_none import NoneReasons, UnreachedSource
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts

VARIABLE, TENSOR = 'Variable', 'Tensor'
_MOST = 1 << 12


class SourceReporter:
    """Reporter of a pass's sources at its end."""

    def __init__(self, parts: TensorFlowParts, host: TensorFlowHost) -> None:
        self._parts = parts
        self._host = host
        self._unconnected = NoneReasons(parts)
        self._sites: dict[tuple[Any, ...], CallSite] = {}
        self._numbers: dict[tuple[str, str], str] = {}

    def named(self, given: Sequence[Any], sources: Sequence[Any]) -> list[str]:
        """Names of sources: a variable's own, that of the variable of the program which holds a tensor, or its place.

        TensorFlow calls every variable 'Variable' that the program gave no name: such, and those of one name, are called by
        their global names, or numbered as they come.
        """
        if len(given) != len(sources):
            given = sources
        frame = outside_machinery(sys._getframe(1))
        things = [_variable_of(thing) for thing in given]
        own = [_own_name(thing) for thing in things]
        objects = {(name, id(thing)) for thing, name in zip(things, own, strict=True)}
        several = {name for name in own if name and sum(other == name for other, _ in objects) > 1}
        return [(_global_name(thing, frame) or self._numbered(thing, name)) if name in several | {VARIABLE} else
                name or _held_as(thing, frame) or f'source {i}'
                for i, (thing, name) in enumerate(zip(things, own, strict=True))]

    def _numbered(self, thing: Any, name: str) -> str:
        """'Variable', 'Variable_1': always the same of the same variable."""
        unique = str(getattr(thing, '_unique_id', '') or id(thing))
        known = self._numbers.get((name, unique))
        if known is None:
            if len(self._numbers) > _MOST:
                self._numbers.clear()
            count = sum(other == name for other, _ in self._numbers)
            known = self._numbers[name, unique] = f'{name}_{count}' if count else name
        return known

    def reached(self, going: BackwardPass, tape: Any, targets: Sequence[Any], sources: Sequence[Any], names: Sequence[str],
                found: Sequence[Any]) -> list[Any]:
        """Make a call for each source, and give what hooks made of the gradients."""
        given = list(found)
        if not hooks.gradient:
            return given
        numbers = [getattr(source, '_id', 0) for source in sources]
        line = program_line(sys._getframe(1))
        asked = (line.filename, line.line) if line is not None else None
        for i, gradient in enumerate(found):
            flows = going.of_source(gradient, numbers[i]) if gradient is not None else []
            kind = VARIABLE if sources[i].dtype == 'resource' or sources[i].dtype._is_ref_dtype else TENSOR
            attrs: dict[str, Any] = {'source': True, 'asked': asked} | ({} if going.eager else {'traced': True})
            if not flows and numbers[i] not in going.targets:
                try:
                    why = self._unconnected.why(going, tape, targets,
                                                UnreachedSource(sources[i], names[i], kind == VARIABLE))
                    attrs |= {'dead': why.reason, 'fix': why.fix, 'culprit': why.culprit and tuple(why.culprit)}
                except Exception as error:      # a mistake of ours: the gradient is None all the same
                    report_failure('finding out why a gradient is None failed', error)
                    attrs['dead'] = 'it is not known why'
            if gradient is not None and hasattr(gradient, 'indices') and hasattr(gradient, 'values'):
                attrs['rows'] = True
            given_names = node_names([gradient]) if not going.eager and gradient is not None else ()
            site = self._site(names[i], kind, tuple(slot for _, slot in flows), attrs, given_names)
            (given[i],) = invoke(site, lambda *gradients: list(gradients), going.run, [gradient], 0,
                                 [call for call, _ in flows])
        return given

    def _site(self, name: str, kind: str, slots: tuple[int, ...], attrs: dict[str, Any],
              nodes: tuple[str, ...]) -> CallSite:
        key = name, kind, slots, nodes, *attrs.items()
        site = self._sites.get(key)
        if site is None:
            if len(self._sites) > _MOST:
                self._sites.clear()
            site = self._sites[key] = step_site(self._host, name, kind, None, slots, attrs, nodes, nodes)
        return site


def _variable_of(thing: Any) -> Any:
    """The variable that an argument of a traced function represents; the argument itself if there is none."""
    graph = None if isinstance(thing, str) or not hasattr(thing, 'op') else thing.graph
    for outer, inner in getattr(graph, 'captures', ()) or ():
        if inner is thing:
            return next((variable for variable in getattr(graph, 'variables', ())
                         if getattr(variable, 'handle', None) is outer), thing)
    return thing


def _own_name(thing: Any) -> str:
    """Of a variable; of a symbolic tensor its node's."""
    for attribute in ('path', 'name'):
        try:
            name = getattr(thing, attribute, None)
        except Exception:                       # an eager tensor has no name, and says so by raising
            return ''
        if isinstance(name, str) and name:
            return name.removesuffix(':0')
    return ''


def _held_as(thing: Any, frame: FrameType | None) -> str:
    """The name under which the program's line holds an object."""
    if frame is None:
        return ''
    for names in (frame.f_locals, frame.f_globals):
        for name, value in list(names.items()):
            if value is thing and not name.startswith('_'):
                return name
    return ''


def _global_name(thing: Any, frame: FrameType | None) -> str:
    """The global name of an object in the program's module, or of what it is an attribute of: 'w', 'model.w'. Local ones are
    not looked for: to ask a frame for those keeps all that they hold alive."""
    found = ''
    for holder, value in list(frame.f_globals.items()) if frame is not None else ():
        if holder.startswith('_') or issubclass(type(value), (type, ModuleType)):     # isinstance would ask a proxy
            continue
        if value is thing:
            return holder
        try:
            held = object.__getattribute__(value, '__dict__')
        except AttributeError:                  # it has slots, or nothing
            continue
        for name, attribute in list(held.items()) if not found and type(held) is dict else ():
            if attribute is thing and not name.startswith('_'):
                found = f'{holder}.{name}'
    return found
