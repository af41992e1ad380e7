"""Backward steps of a `py_function`, which TensorFlow makes of functions of its own: calls of kind 'gradient'.

Each is linked to the call whose output it differentiates. Runs on the threads of the calls.
"""
from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from pyfuncdbg.hooks.call import CallSite, Run, current, next_id
from pyfuncdbg.hooks.chain import hooks, invoke
from pyfuncdbg.hooks.traits import op_traits
from pyfuncdbg.hosts.tensorflow.host import TensorFlowHost
from pyfuncdbg.hosts.tensorflow.nodes.op_types import EAGER
from pyfuncdbg.hosts.tensorflow.python_calls.sites import Entry, Last
from pyfuncdbg.hosts.tensorflow.python_calls.user_function import differentiated

_MOST = 1 << 12
"""Calls that are remembered for a backward step of theirs to come."""
_TOKEN = '_pyfuncdbg_token'


class PyFunctionGradients:
    """The last call at each token, and the sites of backward steps.

    Attributes:
        passes: Of tapes, that go on: a step on another thread is part of the only one.
    """

    def __init__(self, host: TensorFlowHost, entry_of: Callable[[str], Entry | None]) -> None:
        """`entry_of` gives the entry of a graph's function by its token."""
        self._host = host
        self._entry_of = entry_of
        self._calls: OrderedDict[str, Last] = OrderedDict()     # threads come at once: it takes its oldest out in one step
        self._sites: dict[int, CallSite] = {}
        self._first = 0                         # the first call of those that were seen without a break
        self.passes: list[Run] = []
        self.forget = hooks.subscribe(self._changed)

    def _changed(self) -> None:
        """Hooks have come or gone: while there are none of a kind, a call may be made that is not reported here."""
        if not (hooks.python and hooks.gradient):
            self._first = next_id()

    def expect(self, token: str, site: CallSite) -> Last:
        """An eager call begins whose backward step would ask for this token; who makes it tells its id there."""
        last = self._calls[token] = Last(site)
        if len(self._calls) > _MOST:
            self._calls.popitem(last=False)
        return last

    def known(self, token: str) -> tuple[int, str]:
        """The last call at a token, 0 if it was not seen, and its site's name, '' if that is not known."""
        last = self._last(token)
        return (self._call(last), last.name) if last is not None else (0, '')

    def _last(self, token: str) -> Last | None:
        entry = self._entry_of(token)
        return entry.last if entry is not None else self._calls.get(token)

    def _call(self, last: Last) -> int:
        return last.call if last.call >= self._first else 0

    def step(self, registered: Any, run: Callable[[], Run], inputs: Sequence[Any],
             call: Callable[..., Sequence[Any]]) -> Sequence[Any]:
        """Make a backward step, seen by hooks that want gradients.

        Args:
            registered: What TensorFlow's registry holds for it.
            run: Tells the run that it is part of.
            inputs: Gradients of the forward call's outputs.
            call: Computes those of its inputs.
        """
        known = self._last(_token(registered)) if hooks.gradient else None
        if known is None:
            return call(*inputs)
        forward, name, within = self._call(known), known.name, current.get()
        if within is not None and (within.site.kind, within.site.op_type, within.forward) == ('gradient', EAGER, forward):
            return call(*inputs)                # a tape's step is this one
        site = self._sites.get(known.site)
        if site is None:
            if len(self._sites) > _MOST:
                self._sites.clear()
            site = self._sites[known.site] = CallSite(f'{name}_grad', EAGER, 'gradient', self._host,
                                                      attrs={'forward': name}, traits=op_traits(EAGER))
        passes = tuple(self.passes)
        return invoke(site, call, passes[0] if len(passes) == 1 else run(), list(inputs), forward)


def _token(registered: Any) -> str:
    """As `differentiated`, which takes a while: kept with the function."""
    try:
        return getattr(registered, _TOKEN)  # type: ignore[no-any-return]
    except AttributeError:
        token = differentiated(registered)
        setattr(registered, _TOKEN, token)
        return token
