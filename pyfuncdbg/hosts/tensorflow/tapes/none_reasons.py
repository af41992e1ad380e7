"""Reasons of a None gradient: the cut between source and target, and the fix.

Called at the end of a pass, on its thread; works on the numbers of tensors in the tape's log.
"""
from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pyfuncdbg.hooks.notebook_cell import short_place
from pyfuncdbg.hosts.tensorflow.nodes.op_types import EAGER, NUMPY, STATELESS
from pyfuncdbg.hosts.tensorflow.python_calls.captured_variables import captured_name
from pyfuncdbg.hosts.tensorflow.python_calls.user_function import user_function
from pyfuncdbg.hosts.tensorflow.tapes.backward_pass import BackwardPass
from pyfuncdbg.hosts.tensorflow.tapes.forward_log import ForwardLog, LoggedOp
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts


@dataclass(frozen=True, slots=True)
class UnreachedSource:
    """A source without a gradient: its tensor (for a variable the handle), its name, whether it is a variable."""

    tensor: Any
    name: str
    variable: bool


class BlamedFunction(NamedTuple):
    """The wrapped function that is to blame.

    Attributes:
        kind: 'numpy': it has no gradient; 'captured': it uses the source without it being an argument.
        function: Its name.
        filename, line: Where the program made or called the op.
        variable: Its name for the captured source.
    """

    kind: str
    function: str
    filename: str
    line: int
    variable: str = ''


@dataclass(frozen=True, slots=True)
class NoneReason:
    """The reason, and the fix, '' if unknown; the culprit if it is a wrapped function."""

    reason: str
    fix: str = ''
    culprit: BlamedFunction | None = None


class NoneReasons:
    """Finder of reasons."""

    def __init__(self, parts: TensorFlowParts) -> None:
        self._parts = parts

    def find_reason(self, backward_pass: BackwardPass, tape: Any, targets: Sequence[Any],
                    source: UnreachedSource) -> NoneReason:
        """The reason why a source got no gradient in a pass."""
        trainable = self._parts.slices.IsTrainable
        if not source.variable and not trainable(source.tensor):
            return NoneReason(f'it is {source.tensor.dtype.name}: only floating-point and complex numbers have gradients',
                              f'cast it before the tape uses it: {source.name} = tf.cast({source.name}, tf.float32)')
        if not any(trainable(target) for target in targets):
            return NoneReason(f'the target is {targets[0].dtype.name}: only floats and complex numbers have gradients',
                              'differentiate a tensor before it is cast or rounded')
        watched = not source.variable or tape is None or any(
            variable.handle is source.tensor for variable in tape.watched_variables())
        log = backward_pass.log
        if log is None:
            return NoneReason('the operations on the tape are not known: gradients were not watched when it began',
                              'attach, record or set the breakpoint before the tape begins')
        number = getattr(source.tensor, '_id', 0)
        path = _shortest_path(log, number, [getattr(target, '_id', 0) for target in targets])
        if path is None:
            return self._unconnected_reason(log, number, targets, source, watched)
        cut = next((node for node in path if id(node) in backward_pass.dead_ends or self._is_cut(node)), None)
        if cut is not None:
            return self._cut_reason(cut)
        if source.variable and not watched:
            return NoneReason('the tape does not watch it: trainable=False, or the tape has watch_accessed_variables=False',
                              f'tape.watch({source.name}) inside of the with block, before it is used')
        if not source.variable:
            return NoneReason('the tape does not watch it: a tape watches only variables by itself',
                              f'tape.watch({source.name}) inside of the with block, before it is used')
        return NoneReason('the operations from it to the target were not recorded (stop_recording or reset)')

    # ------------------------------------------------------------------ a way with a cut
    def _is_cut(self, op: LoggedOp) -> bool:
        if op.type in (NUMPY, STATELESS):
            return True
        dtype = self._dtype(op)
        if dtype is not None and not (dtype.is_floating or dtype.is_complex) and dtype.name not in ('resource', 'variant'):
            return True
        try:
            return self._parts.ops._gradient_registry.lookup(op.type) is None
        except LookupError:                     # a function with its own rule
            return False

    def _cut_reason(self, op: LoggedOp) -> NoneReason:
        at = _place(op)
        if op.type == 'StopGradient':
            return NoneReason(f'tf.stop_gradient{at} cuts it off', 'remove the stop_gradient if it is not intended')
        if op.type in (NUMPY, STATELESS):
            function = self._function(op)
            name = f' {op.name!r}' if op.name and op.name != 'PyFunc' else ''
            return NoneReason(f'it goes through numpy_function{name}{at}, which has no gradient',
                              'write it as TensorFlow ops in a tf.py_function, or add a gradient with tf.custom_gradient',
                              _culprit('numpy', op, _name(function) if function is not None else op.name))
        dtype = self._dtype(op)
        if dtype is not None and not (dtype.is_floating or dtype.is_complex):
            return NoneReason(f'{op.type}{at} makes {dtype.name} of it: whole numbers, bools and strings have no gradient',
                              'keep floating point from it to the target')
        return NoneReason(f'{op.type}{at} has no gradient in TensorFlow', 'use an op that has one, or tf.custom_gradient')

    # ------------------------------------------------------------------ no way
    def _unconnected_reason(self, log: ForwardLog, number: int, targets: Sequence[Any], source: UnreachedSource,
                            watched: bool) -> NoneReason:
        users = [op for op in log.all() if number in op.inputs]
        for op in log.all():
            function = self._function(op) if op.type == EAGER else None
            variable = captured_name(function, source.tensor) if function is not None else ''
            if variable:
                name = _name(function)
                return NoneReason(f'py_function {name!r}{_place(op)} captures it, and TensorFlow differentiates '
                                  'by the arguments only',
                                  f'pass it: tf.py_function({name}, [..., {source.name}], Tout), and take it as a parameter',
                                  _culprit('captured', op, name, variable))
        if not any(getattr(target, '_id', 0) in log.by_output for target in targets):
            return NoneReason('the target was not computed while the tape recorded',
                              'compute it inside of the with block of the tape')
        if not users and source.variable and watched:
            return NoneReason('it is read inside a list, as in tf.stack([w, 1.0]), which hides the operation that uses it',
                              f'read it first, {source.name}_now = tf.convert_to_tensor({source.name}), to see why')
        if not users:
            return NoneReason('no recorded operation uses it',
                              'use it inside of the with block of the tape, or leave it out of the sources')
        last = _last_dependent(log, users)
        return NoneReason(f'the path from it ends at {last.type}{_place(last)}, before the target',
                              'keep it a tensor: do not convert it to an array or a number (.numpy(), float(), item())')

    def _dtype(self, op: LoggedOp) -> Any:
        return self._parts.dtypes.as_dtype(op.dtype) if op.dtype is not None else None

    def _function(self, op: LoggedOp) -> Any:
        registered = self._parts.scripts._py_funcs.get(op.token) if op.token else None
        return user_function(registered) if registered is not None else None


def _shortest_path(log: ForwardLog, source: int, targets: Sequence[int]) -> list[LoggedOp] | None:
    """The ops from a source to one of the targets, by a shortest path; None if there is none."""
    back: dict[int, tuple[LoggedOp, int]] = {}      # by tensor: the op that uses it, and that op's tensor on the path
    pending = deque(targets)
    reached = set(targets)
    while pending and source not in reached:
        tensor = pending.popleft()
        op = log.by_output.get(tensor)
        for input_tensor in op.inputs if op is not None else ():
            if op is not None and input_tensor not in reached:
                reached.add(input_tensor)
                back[input_tensor] = op, tensor
                pending.append(input_tensor)
    if source not in reached:
        return None
    path: list[LoggedOp] = []
    while source in back:
        op, source = back[source]
        path.append(op)
    return path


def _last_dependent(log: ForwardLog, ops: Sequence[LoggedOp]) -> LoggedOp:
    """The last op that depends on some of these ops."""
    reached = {number for op in ops for number in op.outputs}
    last = ops[-1]
    for op in log.all():
        if not reached.isdisjoint(op.inputs):
            reached.update(op.outputs)
            last = op
    return last


def _place(op: LoggedOp) -> str:
    return f' ({short_place(op.where.filename, op.where.line)})' if op.where is not None else ''


def _name(function: Any) -> str:
    return str(getattr(function, '__name__', None) or type(function).__name__)


def _culprit(kind: str, op: LoggedOp, function: str, variable: str = '') -> BlamedFunction | None:
    return BlamedFunction(kind, function, op.where.filename, op.where.line, variable) if op.where is not None else None
