"""Backward steps of a `py_function`: calls of kind 'gradient', linked to the call whose output they differentiate.

Runs on the threads of the calls.
"""
from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from pyfuncdbg.hooks.call import CallSite, Run, current, next_id
from pyfuncdbg.hooks.chain import hooks, invoke
from pyfuncdbg.hooks.graph_context import GRAPH
from pyfuncdbg.hooks.traits import op_traits
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.hosts.tensorflow.host import TensorFlowHost
from pyfuncdbg.hosts.tensorflow.nodes.op_types import EAGER
from pyfuncdbg.hosts.tensorflow.python_calls.sites import FunctionEntry, LastCall
from pyfuncdbg.hosts.tensorflow.python_calls.user_function import differentiated_token

_MOST = 1 << 12
"""Number of calls that are remembered for a coming backward step."""
_TOKEN = '_pyfuncdbg_token'


@transparent
class PyFunctionGradients:
    """The last call at each token, and the sites of backward steps.

    Attributes:
        passes: Active passes of tapes: a step on another thread is part of the only one.
    """

    def __init__(self, host: TensorFlowHost, entry_of: Callable[[str], FunctionEntry | None]) -> None:
        """`entry_of` gives the entry of a graph's function by its token."""
        self._host = host
        self._entry_of = entry_of
        self._calls: OrderedDict[str, LastCall] = OrderedDict()     # drops its oldest atomically, for several threads
        self._sites: dict[int, CallSite] = {}
        self._first = 0                         # the first call since calls are seen without a gap
        self.passes: list[Run] = []
        self.forget = hooks.subscribe(self._changed)

    def _changed(self) -> None:
        """Hooks have changed: without hooks of a kind, calls are made that are not reported here."""
        if not (hooks.python and hooks.gradient):
            self._first = next_id()

    def expect_step(self, token: str, site: CallSite) -> LastCall:
        """A new record for an eager call with this token for backward steps; the maker of the call stores its id there."""
        last_call = self._calls[token] = LastCall(site)
        if len(self._calls) > _MOST:
            self._calls.popitem(last=False)
        return last_call

    def last_call_of(self, token: str) -> tuple[int, str]:
        """The last call at a token, 0 if it was not seen, and its site's name, '' if unknown."""
        last_call = self._last_call(token)
        return (self._call_id(last_call), last_call.name) if last_call is not None else (0, '')

    def _last_call(self, token: str) -> LastCall | None:
        entry = self._entry_of(token)
        return entry.last_call if entry is not None else self._calls.get(token)

    def _call_id(self, last_call: LastCall) -> int:
        return last_call.call if last_call.call >= self._first else 0

    def make_step(self, registered: Any, run: Callable[[], Run], inputs: Sequence[Any],
                  call: Callable[..., Sequence[Any]]) -> Sequence[Any]:
        """Make a backward step, seen by hooks that want gradients.

        Args:
            registered: The step in TensorFlow's registry.
            run: Gives the run that it is part of.
            inputs: Gradients of the forward call's outputs.
            call: Computes those of its inputs.
        """
        last_call = self._last_call(_token(registered)) if hooks.gradient else None
        if last_call is None:
            return call(*inputs)
        forward, name, call_around = self._call_id(last_call), last_call.name, current.get()
        if call_around is not None and call_around.forward == forward and (
                call_around.site.kind, call_around.site.op_type) == ('gradient', EAGER):
            return call(*inputs)                # a tape's step is this one
        site = self._sites.get(last_call.site)
        if site is None:
            if len(self._sites) > _MOST:
                self._sites.clear()
            attrs = {'forward': name} | ({GRAPH: last_call.graph} if last_call.graph else {})
            site = self._sites[last_call.site] = CallSite(f'{name}_grad', EAGER, 'gradient', self._host,
                                                          stack=last_call.stack, attrs=attrs, traits=op_traits(EAGER))
        passes = tuple(self.passes)
        return invoke(site, call, passes[0] if len(passes) == 1 else run(), list(inputs), forward)


def _token(registered: Any) -> str:
    """As `differentiated_token`, which is slow: cached in the function."""
    try:
        return getattr(registered, _TOKEN)  # type: ignore[no-any-return]
    except AttributeError:
        token = differentiated_token(registered)
        setattr(registered, _TOKEN, token)
        return token
