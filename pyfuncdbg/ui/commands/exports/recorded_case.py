"""A recorded call as a case of a generated test: expressions for its inputs and expected outputs."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pyfuncdbg.errors import CommandError, DroppedError
from pyfuncdbg.hosts.interception.framework import TensorCode
from pyfuncdbg.observers.record.dtypes import dtype_name
from pyfuncdbg.observers.record.records import CallRecord, SiteRecord, TensorRecord
from pyfuncdbg.ui.commands.exports.export_job import ExportJob
from pyfuncdbg.ui.commands.exports.function_code import FunctionCode, FunctionCodes
from pyfuncdbg.ui.commands.exports.generated_code import sentence
from pyfuncdbg.ui.commands.exports.value_archive import ValueArchive, ValueForm, stored_array, value_of

_OWN_TENSORS = TensorCode('from pyfuncdbg import tf', 'tf.constant', ('EagerPyFunc',))


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
        restores: Modules whose random generators are restored before the call.
        error: The type of the exception that it raised, ''.
    """

    function: FunctionCode
    arguments: tuple[ValueForm, ...]
    expected: tuple[ValueForm | str | None, ...]
    tensors: str = ''
    restores: tuple[str, ...] = ()
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


@dataclass(frozen=True, slots=True)
class CaseValues:
    """Contents of a test of one call: its function, inputs, and outputs or exception.

    Attributes:
        function: Code of the function.
        tensors: How it gets tensors; None where it gets arrays.
        inputs: Arrays, strings as bytes.
        outputs: Arrays; a text for one whose values were not kept: its type and shape; None for no tensor.
        error: The exception that it raised.
        states: Of random generators, by module.
    """

    function: FunctionCode
    tensors: TensorCode | None
    inputs: tuple[np.ndarray, ...]
    outputs: tuple[np.ndarray | str | None, ...]
    error: ExpectedError | None
    states: dict[str, np.ndarray]

    @property
    def arguments(self) -> tuple[ValueForm, ...]:
        """Expressions for the inputs as the function gets them: tensors, arrays, scalars where there are no axes."""
        forms = [stored_array(value)[1] for value in self.inputs]
        kinds = self.function.form.kinds if self.function.form is not None else ['input'] * len(forms)
        return tuple([self._argument(*one) for one in zip(forms, self.inputs, kinds, strict=True)])

    def _argument(self, form: ValueForm, value: np.ndarray, kind: str) -> ValueForm:
        if kind == 'number':
            return form.around('', '.item()')
        if kind == 'input' and self.tensors is not None:
            return form.around(f'{self.tensors.make}(')
        return form if value.ndim else form.around('', '[()]')


def values_of_case(call: CallRecord, codes: FunctionCodes) -> CaseValues:
    """Read what a test of a call is made of.

    Args:
        call: Of a Python function.
        codes: Imports the function.

    Raises:
        CommandError: It is no such call, came to no end, or its function or an input cannot be had.
    """
    _refuse_untestable(call)
    function = codes.code_for(call)
    tensors = _tensor_code(call.site)
    inputs = tuple(value_of(call, tensor, f'input {slot}') for slot, tensor in enumerate(call.inputs))
    error = None if call.error is None else ExpectedError(call.error.type, call.error.message)
    return CaseValues(function, tensors, inputs, () if error else tuple(map(_expected, call.outputs)), error,
                      codes.random_states(call))


def _tensor_code(site: SiteRecord) -> TensorCode | None:
    """How the function of a site gets tensors; None if it gets arrays."""
    from pyfuncdbg.hosts import FRAMEWORKS
    code = FRAMEWORKS[site.host].tensor_code if site.host in FRAMEWORKS else _OWN_TENSORS
    return code if not code.op_types or site.op_type in code.op_types else None


def stored_case(call: CallRecord, values: CaseValues, archive: ValueArchive) -> RecordedCase:
    """The case of a call, whose values are then in the archive.

    Args:
        call: The call.
        values: Its values, or reduced ones.
        archive: Gets them.
    """
    for slot, value in enumerate(values.inputs):
        archive.add(f'{call.number}.in{slot}', value)
    expected = tuple(archive.add(f'{call.number}.out{slot}', value) if isinstance(value, np.ndarray) else value
                     for slot, value in enumerate(values.outputs))
    for module, state in values.states.items():
        archive.add(f'{call.number}.{module}', state)
    error = values.error
    shape = CaseShape(values.function, values.arguments, expected,
                      values.tensors.statement if values.tensors is not None else '', tuple(values.states),
                      error.type if error else '')
    return RecordedCase(call.number, _title(call, values), shape, error.message if error else '')


Change = Callable[[CallRecord, CaseValues], CaseValues]


def collect_cases(job: ExportJob, reserved: Sequence[str],
                  change: Change | None = None) -> tuple[list[RecordedCase], list[str]]:
    """The cases of the calls of an export; their values go into the archive beside its file.

    Args:
        job: The export.
        reserved: Names that the file uses itself.
        change: Gives other values for a call.

    Returns:
        The cases, and why calls of a range have none.

    Raises:
        CommandError: None of the calls can be made again; of a single one the reason.
    """
    cases: list[RecordedCase] = []
    refusals: list[str] = []
    calls = list(job.calls)
    with ValueArchive(job.files.binary(job.files.path.with_suffix('.npz'))) as archive:
        codes = FunctionCodes(job.calls.trace, reserved, archive.add_unnamed, with_source=job.with_source)
        for call in calls:
            try:
                values = values_of_case(call, codes)
                cases.append(stored_case(call, values if change is None else change(call, values), archive))
            except CommandError as error:
                if len(calls) == 1:
                    raise
                refusals.append(str(error))
    if not cases:
        raise CommandError(f'none of the {len(calls)} calls can be made again. The first of them: {refusals[0]}')
    return cases, refusals


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


def _title(call: CallRecord, values: CaseValues) -> str:
    """'call #17 norm[3]: float32[2] -> float32[2]'."""
    inputs, outputs = (', '.join(f'{dtype_name(value.dtype)}{list(value.shape)}' if isinstance(value, np.ndarray) else value
                                 for value in side if value is not None) for side in (values.inputs, values.outputs))
    result = f'{values.error.type}: {values.error.message}' if values.error is not None else outputs or 'None'
    return sentence(f'call #{call.number} {call.label}: {inputs or "nothing"} -> {result}', 110)
