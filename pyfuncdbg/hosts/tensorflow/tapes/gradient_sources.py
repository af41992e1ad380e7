"""The sources of a backward pass, as the program asked for them.

Each is a gradient call, too, with a name, and the reason of a missing gradient. Runs at the end of a pass, on its thread.
"""
from __future__ import annotations

import sys
from collections.abc import Sequence
from types import FrameType, ModuleType
from typing import Any

from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.hooks.chain import hooks, invoke, report_failure
from pyfuncdbg.hooks.own_files import outside_machinery
from pyfuncdbg.hosts.interception.program_line import program_line
from pyfuncdbg.hosts.tensorflow.host import TensorFlowHost
from pyfuncdbg.hosts.tensorflow.tapes.backward_pass import BackwardPass
from pyfuncdbg.hosts.tensorflow.tapes.backward_step import node_names, step_site
from pyfuncdbg.hosts.tensorflow.tapes.none_reasons import NoneReasons, UnreachedSource
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts

VARIABLE, TENSOR = 'Variable', 'Tensor'
_MOST = 1 << 12


class SourceReporter:
    """Reporter of a pass's sources at its end."""

    def __init__(self, parts: TensorFlowParts, host: TensorFlowHost) -> None:
        self._parts = parts
        self._host = host
        self._reasons = NoneReasons(parts)
        self._sites: dict[tuple[Any, ...], CallSite] = {}
        self._numbers: dict[tuple[str, str], str] = {}

    def name_sources(self, objects_asked: Sequence[Any], sources: Sequence[Any]) -> list[str]:
        """The names of sources: a variable's own, that of the program's variable which holds a tensor, or its index.

        TensorFlow calls every variable 'Variable' that the program gave no name: such variables, and those of one name, get
        their global names, or numbers in order of appearance.
        """
        if len(objects_asked) != len(sources):
            objects_asked = sources
        frame = outside_machinery(sys._getframe(1))
        variables = [_variable_of(thing) for thing in objects_asked]
        own_names = [_own_name(thing) for thing in variables]
        objects = {(name, id(thing)) for thing, name in zip(variables, own_names, strict=True)}
        several = {name for name in own_names if name and sum(other == name for other, _ in objects) > 1}
        return [(_global_name(thing, frame) or self._numbered_name(thing, name)) if name in several | {VARIABLE} else
                name or _local_name(thing, frame) or f'source {i}'
                for i, (thing, name) in enumerate(zip(variables, own_names, strict=True))]

    def _numbered_name(self, thing: Any, name: str) -> str:
        """'Variable' or 'Variable_1': always the same for the same variable."""
        unique = str(getattr(thing, '_unique_id', '') or id(thing))
        numbered = self._numbers.get((name, unique))
        if numbered is None:
            if len(self._numbers) > _MOST:
                self._numbers.clear()
            count = sum(other == name for other, _ in self._numbers)
            numbered = self._numbers[name, unique] = f'{name}_{count}' if count else name
        return numbered

    def report(self, backward_pass: BackwardPass, tape: Any, targets: Sequence[Any], sources: Sequence[Any],
               names: Sequence[str],
               gradients: Sequence[Any]) -> list[Any]:
        """Make a call for each source, and return the gradients after hooks."""
        results = list(gradients)
        if not hooks.gradient:
            return results
        numbers = [getattr(source, '_id', 0) for source in sources]
        line = program_line(sys._getframe(1))
        place = (line.filename, line.line) if line is not None else None
        for i, gradient in enumerate(gradients):
            flows = backward_pass.source_flows(gradient, numbers[i]) if gradient is not None else []
            kind = VARIABLE if sources[i].dtype == 'resource' or sources[i].dtype._is_ref_dtype else TENSOR
            attrs: dict[str, Any] = {'source': True, 'asked': place} | ({} if backward_pass.eager else {'traced': True})
            if not flows and numbers[i] not in backward_pass.targets:
                try:
                    reason = self._reasons.find_reason(backward_pass, tape, targets,
                                                       UnreachedSource(sources[i], names[i], kind == VARIABLE))
                    attrs |= {'dead': reason.reason, 'fix': reason.fix, 'culprit': reason.culprit and tuple(reason.culprit)}
                except Exception as error:      # a mistake of ours
                    report_failure('finding out why a gradient is None failed', error)
                    attrs['dead'] = 'the reason is unknown'
            if gradient is not None and hasattr(gradient, 'indices') and hasattr(gradient, 'values'):
                attrs['rows'] = True
            given_names = node_names([gradient]) if not backward_pass.eager and gradient is not None else ()
            site = self._site(names[i], kind, tuple(slot for _, slot in flows), attrs, given_names)
            (results[i],) = invoke(site, lambda *gradients: list(gradients), backward_pass.run, [gradient], 0,
                                   [call for call, _ in flows])
        return results

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
    """The name of a variable; for a symbolic tensor that of its node."""
    for attribute in ('path', 'name'):
        try:
            name = getattr(thing, attribute, None)
        except Exception:                       # an eager tensor has no name, and raises
            return ''
        if isinstance(name, str) and name:
            return name.removesuffix(':0')
    return ''


def _local_name(thing: Any, frame: FrameType | None) -> str:
    """The name of an object on the program's line."""
    if frame is None:
        return ''
    for names in (frame.f_locals, frame.f_globals):
        for name, value in list(names.items()):
            if value is thing and not name.startswith('_'):
                return name
    return ''


def _global_name(thing: Any, frame: FrameType | None) -> str:
    """The global name of an object in the program's module, or of an attribute there: 'w', 'model.w'.

    Local names are not searched: reading those of a frame would keep all their values alive.
    """
    dotted = ''
    for holder, value in list(frame.f_globals.items()) if frame is not None else ():
        if holder.startswith('_') or issubclass(type(value), (type, ModuleType)):     # isinstance would ask a proxy
            continue
        if value is thing:
            return holder
        try:
            attributes = object.__getattribute__(value, '__dict__')
        except AttributeError:                  # it has slots, or nothing
            continue
        for name, attribute in list(attributes.items()) if not dotted and type(attributes) is dict else ():
            if attribute is thing and not name.startswith('_'):
                dotted = f'{holder}.{name}'
    return dotted
