"""Verdicts on replays: whether the outputs and the exception are those of the recording. Pure."""
from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from pyfuncdbg.errors import DroppedError
from pyfuncdbg.observers.debug.comparison.divergence import SourceDifference, TensorDifference
from pyfuncdbg.observers.debug.comparison.value_difference import Tolerance, value_difference
from pyfuncdbg.observers.debug.gradients.call_again import RepeatedResult
from pyfuncdbg.observers.debug.numerics.nan_line_tracer import describe
from pyfuncdbg.observers.record.index.decode import inline_bytes
from pyfuncdbg.observers.record.record_contents import load_few
from pyfuncdbg.observers.record.records import CallRecord, ErrorRecord, OutputRecord, TensorRecord

Verdict = Literal['same', 'differs', 'raises otherwise', 'not known', 'RNG state unknown']
SAME: Verdict = 'same'
DIFFERS: Verdict = 'differs'
RAISES: Verdict = 'raises otherwise'
NOT_KNOWN: Verdict = 'not known'
RNG_UNKNOWN: Verdict = 'RNG state unknown'
_LONGEST_MESSAGE = 1000
_EXACT = Tolerance()
_ADDRESS = re.compile(r'0x[0-9a-fA-F]+')
_UNNAMED = TensorRecord('', '', (), 0, 'none')


@dataclass(frozen=True, slots=True)
class ReplayedCall:
    """One execution of the function.

    Attributes:
        verdict: 'same', bit for bit; 'differs'; 'raises otherwise'; 'not known', where an output was not kept or
            the recorded call did not end; 'RNG state
            unknown', where it draws random numbers and the recording has no state of the generator.
        outputs: What it gave, () if it raised.
        raised: Its exception as 'Class: message'; '' without one.
        printed: What it printed and warned.
        tensors: The outputs that differ.
        unknown: How many outputs were not compared: the recording did not keep them.
    """

    verdict: Verdict
    outputs: tuple[TensorRecord, ...]
    raised: str
    printed: tuple[OutputRecord, ...]
    tensors: tuple[TensorDifference, ...] = ()
    unknown: int = 0


@dataclass(frozen=True, slots=True)
class Replay:
    """Result of `replay`.

    Attributes:
        call: As recorded.
        function: Qualified name of its function.
        files: Files of the program whose code ran.
        verdict: Of the executions together: 'same' if all are.
        executions: Each of them.
        change: The statements that changed the inputs, '' without.
        changed: The execution on the changed inputs; None without.
        inputs: The changed inputs.
        source: The function's source in the recording and now, where they differ.
        remarks: What could not be restored.
    """

    call: CallRecord
    function: str
    files: tuple[str, ...]
    verdict: Verdict
    executions: tuple[ReplayedCall, ...]
    change: str = ''
    changed: ReplayedCall | None = None
    inputs: tuple[TensorRecord, ...] = ()
    source: SourceDifference | None = None
    remarks: tuple[str, ...] = ()
    error: BaseException | None = field(default=None, repr=False, compare=False)
    """What the first execution raised."""

    @property
    def same(self) -> bool:
        """Whether all executions gave what was recorded, bit for bit."""
        return self.verdict == SAME


def judge(call: CallRecord, result: RepeatedResult, unknown_numbers: bool) -> ReplayedCall:
    """Compare one execution with the recording.

    Args:
        call: As recorded.
        result: Of the execution.
        unknown_numbers: It drew random numbers, and the recording has no state of the generator.

    Returns:
        The execution with its verdict.
    """
    raised = '' if result.error is None else error_text(result.error)
    outputs = tuple([array_record(old.name, array) for old, array in zip(
        [*call.outputs, *[_UNNAMED] * len(result.outputs)], result.outputs, strict=False)])
    tensors, unknown = _differences(call.outputs, result.outputs) if result.error is None else ((), 0)
    verdict: Verdict = SAME
    recorded = call.error
    if call.duration is None:                   # still running, or killed: it gave nothing that could differ
        return ReplayedCall(NOT_KNOWN, outputs, raised, result.messages)
    if not _same_error(recorded, result.error):
        verdict = RAISES
    elif recorded is None and (tensors or len(result.outputs) != len(call.outputs)):
        verdict = DIFFERS
    elif unknown:
        verdict = NOT_KNOWN
    if unknown_numbers:
        verdict = RNG_UNKNOWN
    return ReplayedCall(verdict, outputs, raised, result.messages, tensors, unknown)


def _differences(recorded: Sequence[TensorRecord], arrays: Sequence[np.ndarray]) -> tuple[tuple[TensorDifference, ...], int]:
    """The outputs that differ, and how many could not be compared."""
    differences: list[TensorDifference] = []
    unknown = 0
    for slot, (tensor, array) in enumerate(zip(recorded, arrays, strict=False)):
        new = array_record(tensor.name, array)
        if tensor.absent:
            continue
        if (tensor.dtype, tensor.shape) != (new.dtype, new.shape):
            kind: Literal['dtype', 'shape'] = 'shape' if tensor.dtype == new.dtype else 'dtype'
            texts = f'{tensor.dtype}{list(tensor.shape)}', f'{new.dtype}{list(new.shape)}'
            differences.append(TensorDifference(kind, 'out', slot, tensor.name, texts))
            continue
        try:
            old = tensor.to_numpy()
        except DroppedError:
            if tensor.stats is not None and new.stats is not None and tensor.stats != new.stats:
                texts = f'mean {tensor.stats.mean}', f'mean {new.stats.mean}'
                differences.append(TensorDifference('value', 'out', slot, tensor.name, texts))
            else:
                unknown += 1
            continue
        difference = value_difference(old, array, _EXACT)
        if difference is not None:
            differences.append(TensorDifference('value', 'out', slot, tensor.name, difference.values, difference))
    return tuple(differences), unknown


def array_record(name: str, array: np.ndarray) -> TensorRecord:
    """A value as a recorded tensor, with its elements.

    Args:
        name: Of the tensor.
        array: Its value.
    """
    summary = describe(name, array)
    if array.dtype.hasobject:
        texts = [each for each in array.flat if isinstance(each, bytes)]
        return replace(summary, dtype='string', nbytes=sum(map(len, texts))) if len(texts) == array.size else summary
    return load_few(replace(summary, level='full', key=array.tobytes(), _read=inline_bytes))


def error_text(error: BaseException) -> str:
    """An exception as 'Class: message'.

    Args:
        error: Of an execution.
    """
    return f'{type(error).__name__}: {error}'[:_LONGEST_MESSAGE]


def _same_error(recorded: ErrorRecord | None, error: BaseException | None) -> bool:
    if recorded is None or error is None:
        return recorded is None and error is None
    one, two = (without_addresses(message[:_LONGEST_MESSAGE]) for message in (recorded.message, str(error)))
    return recorded.type.rpartition('.')[2] == type(error).__name__ and one == two


def without_addresses(message: str) -> str:
    """A message in which the addresses of objects, others in each process, are '0x...'.

    Args:
        message: Of an exception.
    """
    return _ADDRESS.sub('0x...', message)


def verdict_of(executions: Sequence[ReplayedCall]) -> Verdict:
    """The verdict on several executions: 'same' if all are.

    Args:
        executions: Each with its own.
    """
    for verdict in (RNG_UNKNOWN, RAISES, DIFFERS, NOT_KNOWN):
        if any(execution.verdict == verdict for execution in executions):
            return verdict
    return SAME
