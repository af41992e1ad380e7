"""A recorded call as a case of a generated test: expressions for its inputs and expected outputs."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pyfuncdbg.errors import CommandError, DroppedError
from pyfuncdbg.observers.record.records import CallRecord, TensorRecord
from pyfuncdbg.ui.commands.exports.function_code import FunctionCode, FunctionCodes
from pyfuncdbg.ui.commands.exports.generated_code import sentence
from pyfuncdbg.ui.commands.exports.value_archive import ValueArchive, ValueForm, value_of

GETS_TENSORS = 'EagerPyFunc'
"""The op type whose function gets tensors; that of others gets arrays."""
TENSOR_IMPORTS = {'pyfuncdbg': 'from pyfuncdbg import tf', 'tensorflow': 'import tensorflow as tf'}
"""By host what gives `tf`."""


@dataclass(frozen=True, slots=True)
class ExpectedError:
    """The exception that a function raised."""

    type: str
    message: str


@dataclass(frozen=True, slots=True)
class CaseShape:
    """The part of a case that many calls of one function share: they are one test.

    Attributes:
        function: Its function.
        arguments: Expressions for the inputs, `{}` where the key of the stored array belongs.
        expected: Those for the outputs; a text for one whose values were not kept: its type and shape.
        tensors: The import that its tensors need, '' where it gets arrays.
        error: The type of the exception that it raised, ''.
    """

    function: FunctionCode
    arguments: tuple[ValueForm, ...]
    expected: tuple[ValueForm | str | None, ...]
    tensors: str = ''
    error: str = ''


@dataclass(frozen=True, slots=True)
class RecordedCase:
    """A call with the values that are stored of it.

    Attributes:
        number: Of the call.
        title: Of the call, for a docstring.
        shape: How it is called.
        message: Of the exception, ''.
    """

    number: str
    title: str
    shape: CaseShape
    message: str = ''


def recorded_case(call: CallRecord, codes: FunctionCodes, archive: ValueArchive) -> RecordedCase:
    """Make a case, and store its values.

    Args:
        call: Of a Python function.
        codes: Imports the function.
        archive: Gets the values.

    Raises:
        CommandError: It is no such call, came to no end, or its function or an input cannot be had.
    """
    _refuse_untestable(call)
    site = call.site
    function = codes.code_for(site, len(call.inputs))
    tensors = TENSOR_IMPORTS.get(site.host, '') if site.op_type == GETS_TENSORS else ''
    inputs = [value_of(call, tensor, f'input {slot}') for slot, tensor in enumerate(call.inputs)]
    outputs = [_expected(tensor) for tensor in call.outputs]
    arguments = tuple(_argument(archive.add(f'{call.number}.in{slot}', value), value, bool(tensors))
                      for slot, value in enumerate(inputs))
    expected = tuple(archive.add(f'{call.number}.out{slot}', value) if isinstance(value, np.ndarray) else value
                     for slot, value in enumerate(outputs))
    error = _error_of(call)
    return RecordedCase(call.number, _title(call), CaseShape(function, arguments, () if error else expected, tensors,
                                                         error.type if error else ''), error.message if error else '')


def _refuse_untestable(call: CallRecord) -> None:
    name = f'call #{call.number} {sentence(call.label, 60)}'
    if call.site.kind != 'python':
        what = {'gradient': 'a backward step', 'op': 'a node of the graph'}.get(call.site.kind, 'a whole run')
        raise CommandError(f'{name} is {what}: a test is of the call of a Python function')
    if call.error is None and call.duration is None:
        raise CommandError(f'{name} came to no end: nothing is known that a test could expect')
    if call.error is not None and call.site.filename and not any(
            frame.filename == call.site.filename for frame in call.error.frames):
        raise CommandError(f'{name}: what was raised is not of the function but of what became of its result: '
                           f'{sentence(call.error.message, 100)}')


def _expected(tensor: TensorRecord) -> np.ndarray | str | None:
    """The value; type and shape where it was not kept, None where there was no tensor."""
    if tensor.absent:
        return None
    try:
        return tensor.to_numpy()
    except DroppedError:
        return f'{tensor.dtype}{list(tensor.shape)}'


def _argument(form: ValueForm, value: np.ndarray, as_tensor: bool) -> ValueForm:
    """What the function gets: a tensor, an array, or a scalar where there are no axes."""
    if as_tensor:
        return form.around('tf.constant(')
    return form if value.ndim else form.around('', '[()]')


def _error_of(call: CallRecord) -> ExpectedError | None:
    return None if call.error is None else ExpectedError(call.error.type, call.error.message)


def _title(call: CallRecord) -> str:
    """'call #17 norm[3]: float32[2] -> float32[2]'."""
    sides = [', '.join(f'{tensor.dtype}{list(tensor.shape)}' for tensor in side if not tensor.absent)
             for side in (call.inputs, call.outputs)]
    result = f'{call.error.type}: {call.error.message}' if call.error is not None else sides[1] or 'None'
    return sentence(f'call #{call.number} {call.label}: {sides[0] or "nothing"} -> {result}', 110)
