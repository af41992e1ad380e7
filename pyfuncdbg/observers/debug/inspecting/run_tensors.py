"""The tensors of a run under way, as plain data: which are there, which come later, which were dropped.

Asked on the stopped thread.
"""
from __future__ import annotations

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, Literal

from pyfuncdbg.hooks.host import RunView
from pyfuncdbg.observers.debug.stops.stop import Stop
from pyfuncdbg.observers.debug.value import describe_value
from pyfuncdbg.observers.record.records import TensorRecord

Standing = Literal['fed', 'here', 'dropped', 'next', 'later']


@dataclass(frozen=True, slots=True)
class LiveTensor:
    """One tensor of a run under way.

    Attributes:
        name: 'mm:0'.
        op_type: Of its node; '' for a feed.
        standing: Fed; computed and here; computed and dropped; made by the node that is next or runs now; made later.
        tensor: Its summary, if it is here.
    """

    name: str
    op_type: str
    standing: Standing
    tensor: TensorRecord | None


@dataclass(frozen=True, slots=True)
class LiveNode:
    """One node of a run under way; `silent` if it has no outputs. It ran, is next or runs now, or comes later."""

    name: str
    op_type: str
    standing: Literal['here', 'next', 'later']
    silent: bool


def view_of(stop: Stop | None) -> RunView | None:
    """The state of the run at a stop, None outside of a run that can be inspected."""
    control: Any = stop.run.control if stop is not None and stop.run is not None else None
    look = getattr(control, 'look', None)
    return look() if look is not None else None


def live_tensors(stop: Stop, view: RunView, site: str | None = None) -> list[LiveTensor]:
    """Feeds and outputs of the run, in order; `site` is a glob over node names, op types and function names."""
    run: Any = stop.run
    tensors = [LiveTensor(name, '', 'fed', _summary(view.value(name), run, name)) for name in view.feeds
               if view.holds(name) and (site is None or fnmatchcase(name.rpartition(':')[0], site))]
    fresh = dict(zip(stop.call.site.outputs, stop.outputs, strict=False)) if stop.call is not None and stop.outputs else {}
    for index, one in enumerate(view.sites):
        names = (one.name, one.op_type, getattr(one.function, '__name__', ''))
        if site is not None and not any(fnmatchcase(name, site) for name in names):
            continue
        for output in one.outputs:
            if output in fresh:
                tensors.append(LiveTensor(output, one.op_type, 'here', _summary(fresh[output], run, output)))
            elif output not in view.feeds:
                is_here = view.holds(output)
                standing: Standing = 'here' if is_here else 'dropped' if index < view.position else (
                    'next' if index == view.position else 'later')
                tensors.append(LiveTensor(output, one.op_type, standing,
                                        _summary(view.value(output), run, output) if is_here else None))
    return tensors


def live_nodes(view: RunView) -> tuple[LiveNode, ...]:
    """All nodes of the run, in order."""
    return tuple(LiveNode(one.name, one.op_type, 'here' if index < view.position else
                          'next' if index == view.position else 'later', not one.outputs)
                 for index, one in enumerate(view.sites))


def _summary(value: Any, run: Any, name: str) -> TensorRecord | None:
    tensor = describe_value(value, run.host).tensor
    return tensor and replace(tensor, name=name)
