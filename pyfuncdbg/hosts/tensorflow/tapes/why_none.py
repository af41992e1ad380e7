"""Reasons of a None gradient: the cut between source and target, and the fix.

Asked at the end of a pass, on its thread; works on the numbers of tensors in the tape's log.
"""
from __future__ import annotations

import os.path
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pyfuncdbg.hosts.tensorflow.nodes.op_types import EAGER, NUMPY, STATELESS
from pyfuncdbg.hosts.tensorflow.python_calls.captured_variables import reached_as
from pyfuncdbg.hosts.tensorflow.python_calls.user_function import user_function
from pyfuncdbg.hosts.tensorflow.tapes.backward_pass import BackwardPass
from pyfuncdbg.hosts.tensorflow.tapes.forward_log import ForwardLog, LoggedOp
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts


@dataclass(frozen=True, slots=True)
class UnreachedSource:
    """A source without a gradient: its tensor (of a variable the handle), its name, whether it is a variable."""

    tensor: Any
    name: str
    variable: bool


class BlamedFunction(NamedTuple):
    """The wrapped function that is to blame.

    Attributes:
        how: 'numpy': it has no gradient; 'captured': it gets at the source without being given it.
        function: Its name.
        filename, line: Where the program made or called the op.
        variable: How the function names what it captured.
    """

    how: str
    function: str
    filename: str
    line: int
    variable: str = ''


@dataclass(frozen=True, slots=True)
class NoneReason:
    """The reason, and what mends it, '' if that is not known; the culprit if it is a wrapped function."""

    reason: str
    fix: str = ''
    culprit: BlamedFunction | None = None


class NoneReasons:
    """Finder of reasons."""

    def __init__(self, parts: TensorFlowParts) -> None:
        self._parts = parts

    def why(self, going: BackwardPass, tape: Any, targets: Sequence[Any], source: UnreachedSource) -> NoneReason:
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
        log = going.log
        if log is None:
            return NoneReason('the operations on the tape are not known: gradients were not watched when it began',
                              'attach, record or set the breakpoint before the tape begins')
        number = getattr(source.tensor, '_id', 0)
        way = _way(log, number, [getattr(target, '_id', 0) for target in targets])
        if way is None:
            return self._apart(log, number, targets, source, watched)
        cut = next((made for made in way if id(made) in going.ended or self._cuts(made)), None)
        if cut is not None:
            return self._cut(cut)
        if source.variable and not watched:
            return NoneReason('the tape does not watch it: trainable=False, or the tape has watch_accessed_variables=False',
                              f'tape.watch({source.name}) inside of the with block, before it is used')
        if not source.variable:
            return NoneReason('the tape does not watch it: a tape watches only variables by itself',
                              f'tape.watch({source.name}) inside of the with block, before it is used')
        return NoneReason('the operations from it to the target were not recorded (stop_recording or reset)')

    # ------------------------------------------------------------------ a way with a cut
    def _cuts(self, made: LoggedOp) -> bool:
        if made.type in (NUMPY, STATELESS):
            return True
        dtype = self._dtype(made)
        if dtype is not None and not (dtype.is_floating or dtype.is_complex) and dtype.name not in ('resource', 'variant'):
            return True
        try:
            return self._parts.ops._gradient_registry.lookup(made.type) is None
        except LookupError:                     # a function, with a rule of its own
            return False

    def _cut(self, made: LoggedOp) -> NoneReason:
        at = _place(made)
        if made.type == 'StopGradient':
            return NoneReason(f'tf.stop_gradient{at} cuts it off', 'remove the stop_gradient if it is not intended')
        if made.type in (NUMPY, STATELESS):
            function = self._function(made)
            name = f' {made.name!r}' if made.name and made.name != 'PyFunc' else ''
            return NoneReason(f'it goes through numpy_function{name}{at}, which has no gradient',
                              'write it as TensorFlow ops in a tf.py_function, or add a gradient with tf.custom_gradient',
                              _culprit('numpy', made, _name(function) if function is not None else made.name))
        dtype = self._dtype(made)
        if dtype is not None and not (dtype.is_floating or dtype.is_complex):
            return NoneReason(f'{made.type}{at} makes {dtype.name} of it: whole numbers, bools and strings have no gradient',
                              'keep floating point from it to the target')
        return NoneReason(f'{made.type}{at} has no gradient in TensorFlow', 'use an op that has one, or tf.custom_gradient')

    # ------------------------------------------------------------------ no way
    def _apart(self, log: ForwardLog, number: int, targets: Sequence[Any], source: UnreachedSource,
               watched: bool) -> NoneReason:
        used = [made for made in log.all() if number in made.inputs]
        for made in log.all():
            function = self._function(made) if made.type == EAGER else None
            variable = reached_as(function, source.tensor) if function is not None else ''
            if variable:
                name = _name(function)
                return NoneReason(f'py_function {name!r}{_place(made)} captures it, and TensorFlow differentiates '
                                  'by the arguments only',
                                  f'pass it: tf.py_function({name}, [..., {source.name}], Tout), and take it as a parameter',
                                  _culprit('captured', made, name, variable))
        if not any(getattr(target, '_id', 0) in log.by_output for target in targets):
            return NoneReason('the target was not computed while the tape recorded',
                              'compute it inside of the with block of the tape')
        if not used and source.variable and watched:
            return NoneReason('it is read inside a list, as in tf.stack([w, 1.0]), which hides the operation that uses it',
                              f'read it first, {source.name}_now = tf.convert_to_tensor({source.name}), to see why')
        if not used:
            return NoneReason('no recorded operation uses it',
                              'use it inside of the with block of the tape, or leave it out of the sources')
        last = _furthest(log, used)
        return NoneReason(f'the path from it ends at {last.type}{_place(last)}, before the target',
                              'keep it a tensor: do not convert it to an array or a number (.numpy(), float(), item())')

    def _dtype(self, made: LoggedOp) -> Any:
        return self._parts.dtypes.as_dtype(made.dtype) if made.dtype is not None else None

    def _function(self, made: LoggedOp) -> Any:
        registered = self._parts.scripts._py_funcs.get(made.token) if made.token else None
        return user_function(registered) if registered is not None else None


def _way(log: ForwardLog, source: int, targets: Sequence[int]) -> list[LoggedOp] | None:
    """The ops from a source to one of the targets, by a shortest way; None if there is none."""
    back: dict[int, tuple[LoggedOp, int]] = {}      # tensor: the op that uses it, and the tensor of that which leads on
    waiting = deque(targets)
    seen = set(targets)
    while waiting and source not in seen:
        tensor = waiting.popleft()
        made = log.by_output.get(tensor)
        for given in made.inputs if made is not None else ():
            if made is not None and given not in seen:
                seen.add(given)
                back[given] = made, tensor
                waiting.append(given)
    if source not in seen:
        return None
    way: list[LoggedOp] = []
    while source in back:
        made, source = back[source]
        way.append(made)
    return way


def _furthest(log: ForwardLog, used: Sequence[LoggedOp]) -> LoggedOp:
    """The last op that depends on some."""
    reached = {number for made in used for number in made.outputs}
    last = used[-1]
    for made in log.all():
        if not reached.isdisjoint(made.inputs):
            reached.update(made.outputs)
            last = made
    return last


def _place(made: LoggedOp) -> str:
    return f' ({os.path.basename(made.where.filename)}:{made.where.line})' if made.where is not None else ''


def _name(function: Any) -> str:
    return str(getattr(function, '__name__', None) or type(function).__name__)


def _culprit(how: str, made: LoggedOp, function: str, variable: str = '') -> BlamedFunction | None:
    return BlamedFunction(how, function, made.where.filename, made.where.line, variable) if made.where is not None else None
