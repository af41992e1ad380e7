"""Watch on the nodes of one run. It records each, and finds the first that failed and the tensors that pass a test.

A hook on op calls that exists only while a debugged run does, so that other runs keep their speed. On the run's thread.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pyfuncdbg.hooks.call import Call, CallSite, Kind, Run
from pyfuncdbg.hooks.chain import Outputs, hooks
from pyfuncdbg.hooks.host import Host
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.observers.debug.conditions.tensor_condition import TensorTest
from pyfuncdbg.observers.record.recorder import DEPTH, Recorder

KEPT = 1_000
"""Most names of tensors that passed a test; the rest is counted."""


@dataclass(frozen=True, slots=True)
class PassedTensor:
    """A tensor that passed a test.

    Attributes:
        name: 'norm:0'.
        call: '#17', the recorded call that gave it; '' for one that was fed.
        slot: Which output of that.
        dtype: As NumPy names it.
        shape: Its sizes.
        error: What the test raised for it, '' if it was true.
    """

    name: str
    call: str
    dtype: str
    shape: tuple[int, ...]
    error: str = ''
    slot: int = 0


class NodeWatch:
    """Hook on the nodes of one run, from `start` to `stop`.

    Attributes:
        test: What tensors are tested with, None for nothing; may be set while the run is under way.
        passed: The tensors that passed, in order; `count` also counts those whose names were not kept.
        failed: Site of the first node that raised, None if none did.
    """

    kinds: frozenset[Kind] = frozenset(('op', 'python'))

    def __init__(self, run: Run, recorder: Recorder, test: TensorTest | None = None) -> None:
        self._run = run
        # A recorder of every node has them already.
        self._recorder = recorder if 'op' not in recorder.kinds else None
        self._wrapping = frozenset(site.name for site in run.sites if site.kind == 'python')
        self.test = test
        self.passed: list[PassedTensor] = []
        self.count = 0
        self.failed: CallSite | None = None
        self._functions: dict[str, int] = {}
        """By node, the newest call of its Python function."""

    def start(self) -> None:
        """Watch from now on."""
        hooks.add(self, depth=DEPTH)

    def stop(self) -> None:
        """Watch no more."""
        hooks.remove(self)

    @transparent
    def around(self, call: Call, proceed: Callable[[], Outputs]) -> Outputs:
        if call.run is not self._run:
            return proceed()
        if call.site.kind == 'python':
            self._functions[call.site.name] = call.id
            return proceed()
        # Of a node around a Python function the Python call itself is recorded, always.
        record = self._recorder is not None and call.site.name not in self._wrapping
        try:
            outputs = self._recorder.around(call, proceed) if record and self._recorder is not None else proceed()
        except Exception:                       # an error of the program, raised to the node's caller
            if self.failed is None:
                self.failed = call.site
            raise
        if self.test is not None:
            self.look(self.test, outputs, call.site.outputs, call.site.host, self._number(call, record))
        return outputs

    def _number(self, call: Call, recorded: bool) -> str:
        """The number under which the outputs of a node are in the trace: its own, or that of its function's call."""
        inner = self._functions.get(call.site.name, 0) if call.site.name in self._wrapping else 0
        number = call.id if recorded or self._recorder is None else inner
        return f'#{number}' if number else ''

    def look(self, test: TensorTest, values: Sequence[Any], names: Sequence[str], host: Host, number: str = '') -> None:
        """Test some tensors, and note those that pass. A test that raises counts as passed, with the reason."""
        for slot, (value, name) in enumerate(zip(values, names, strict=False)):
            array = host.to_numpy(value)
            reason = ''
            try:
                passes = bool(test(array))
            except Exception as error:          # an error of the user's expression: shown where it occurred
                passes, reason = True, f'{type(error).__name__}: {error}'
            if passes:
                self.count += 1
                if len(self.passed) < KEPT:
                    self.passed.append(PassedTensor(name, number, str(array.dtype), array.shape, reason, slot))
