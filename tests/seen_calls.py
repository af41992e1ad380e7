"""A hook that keeps what it saw of every call."""
from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

from pyfuncdbg.hooks.call import Call
from pyfuncdbg.hooks.chain import Outputs


class Seen:
    """A hook that notes every call.

    Attributes:
        calls, inputs: The calls in the order in which they began, and what each got, as arrays.
        returned, outputs: Those that returned in the order in which they did, and what each gave.
        change: If set, gives the outputs that stand.
    """

    kinds = frozenset(('python',))

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.calls: list[Call] = []
        self.returned: list[Call] = []
        self.inputs: list[list[np.ndarray]] = []
        self.outputs: list[list[np.ndarray]] = []
        self.change: Callable[[Call, Callable[[], Outputs]], Outputs] | None = None

    def around(self, call: Call, proceed: Callable[[], Outputs]) -> Outputs:
        host = call.site.host
        with self._lock:
            self.calls.append(call)
            self.inputs.append([host.to_numpy(value).copy() for value in call.inputs])
        outputs = proceed() if self.change is None else self.change(call, proceed)
        with self._lock:
            self.returned.append(call)
            self.outputs.append([host.to_numpy(value).copy() for value in outputs])
        return outputs

    @property
    def names(self) -> list[str]:
        return [call.site.name for call in self.calls]
