"""A test file for pytest, made of recorded calls, with their values beside it. It runs without this project.

Functions are imported from the program's modules. Calls of one function that are called alike are one test.
"""
from __future__ import annotations

import builtins
import re
import textwrap
from collections.abc import Sequence

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.ui.commands.exports.export_job import ExportJob, Written
from pyfuncdbg.ui.commands.exports.exported_calls import ExportedCalls
from pyfuncdbg.ui.commands.exports.function_code import FunctionCode
from pyfuncdbg.ui.commands.exports.generated_code import file_stem, folder_line, recorded_line, sentence, word
from pyfuncdbg.ui.commands.exports.random_state_code import RESTORES
from pyfuncdbg.ui.commands.exports.recorded_case import CaseShape, CaseValues, RecordedCase, collect_cases
from pyfuncdbg.ui.commands.exports.recorded_value import FUNCTIONS
from pyfuncdbg.ui.commands.exports.reduction_process import reduce_inputs
from pyfuncdbg.ui.commands.exports.value_archive import STRINGS, ValueForm

RESERVED = ('Path', 'VALUES', 'builtins', 'call', 'check', 'functools', 'generator', 'importlib', 'leaves', 'made',
            'message', 'ml_dtypes', 'name_of', 'np', 'pytest', 'raised', 'random', 're', 'result', 'runpy', 'strings',
            'sys', 'tf')
"""Names that the file uses itself."""
_NUMPY = 'import numpy as np'
_LONGEST = 16 << 10
"""Characters of a message that a recording keeps."""
_ADDRESS = re.compile(r'0x[0-9a-fA-F]+')
_CHECK = '''def check(result, expected, rtol=0{cast}):
    """Compare type, shape and values bit for bit, where NaN equals NaN. `rtol=1e-6` lets values differ by rounding."""
    several = isinstance(result, (list, tuple)) and len(result) == len(expected)
    results = result if several else [] if result is None and not expected else [result]
{nested}    assert len(results) == len(expected)
    for actual, wanted in zip(results, expected):
{special}        actual = {array}
        assert (actual.dtype, actual.shape) == (wanted.dtype, wanted.shape)
        if rtol:
            np.testing.assert_allclose(actual, wanted, rtol=rtol)
            continue
        np.testing.assert_array_equal(actual, wanted)
        if wanted.dtype.kind in 'fc':           # zeros have a sign, which `==` does not see
            bits = [np.where(array == array, array, 0).tobytes() for array in (actual, wanted)]
            assert bits[0] == bits[1]
'''
_ARRAY = "np.asarray(actual, None if hasattr(actual, 'dtype') else wanted.dtype)"
_OF_TENSOR = ("actual.numpy() if hasattr(actual, 'numpy') else np.asarray(\n"
              "            actual, wanted.dtype if cast or not hasattr(actual, 'dtype') else None)")
_NESTED = '''    values = list(leaves(result)) if isinstance(result, (list, tuple, dict)) else []
    if len(values) == len(expected):
        results = values
'''
_LEAVES = '''def leaves(result):
    """The values in nested containers; a list of numbers or texts within one is one value."""
    for value in result.values() if isinstance(result, dict) else result:
        plain = type(value) in (list, tuple) and value and all(
            type(one) in (int, float, bool, complex, str, bytes) for one in value)
        yield from leaves(value) if type(value) in (list, tuple, dict) and not plain else [value]
'''
_NOTHING = '''        if wanted is None:
            assert actual is None
            continue
'''
_FORM = '''        if isinstance(wanted, str):             # its values were not kept
            actual = np.asarray(actual)
            assert wanted in ('object[]', f'{actual.dtype}{list(actual.shape)}')
            continue
'''
_STRINGS = '''        if wanted.dtype == object:
            actual = np.asarray({array}, object)
            texts = [text.encode() if isinstance(text, str) else bytes(text) for text in actual.flat]
            assert (actual.shape, texts) == (wanted.shape, list(wanted.flat))
            continue
'''
_NAME_OF = '''def name_of(kind):
    """'module.Class' of an exception."""
    return f'{kind.__module__}.{kind.__qualname__}'
'''


def pytest_file_name(calls: ExportedCalls) -> str:
    """'test_norm_17': the name of the file for these calls, without its suffix."""
    return f'test_{file_stem(calls.chosen or ())}'


def write_pytest_file(job: ExportJob) -> Written:
    """Write the test file, and the values beside it.

    Args:
        job: Calls and files; the options `with_source` and `shrink`.

    Raises:
        CommandError: None of the calls can be tested; of a single one the reason.
    """
    trace = job.calls.trace
    path = job.files.path
    if path.suffix != '.py':
        raise CommandError(f'{str(path)!r}: a test file ends in .py, such as -o {path.stem}.py')
    if job.shrink and len(job.calls.chosen or ()) > 1:
        raise CommandError(f'--shrink reduces the inputs of one call, and {len(job.calls.chosen or ())} were chosen')
    shrunk: list[str] = []

    def shrink(call: CallRecord, values: CaseValues) -> CaseValues:
        less, remark = reduce_inputs(call, values)
        shrunk.append(remark)
        return less
    file = job.files.text()
    cases, refused = collect_cases(job, RESERVED, shrink if job.shrink else None)
    remarks = *shrunk, *dict.fromkeys(remark for case in cases for remark in case.shape.function.remarks)
    file.write(_text_of(cases, recorded_line(trace.info()), remarks, job))
    return Written(len(cases), skipped=len(refused), remarks=(*remarks, *refused[:1]))


def _text_of(cases: Sequence[RecordedCase], recorded: str, remarks: Sequence[str], job: ExportJob) -> str:
    """The whole file."""
    groups: dict[CaseShape, list[RecordedCase]] = {}
    for case in cases:
        groups.setdefault(case.shape, []).append(case)
    names: set[str] = set()
    tests = [_test(shape, group, names) for shape, group in groups.items()]
    functions = list(dict.fromkeys(shape.function for shape in groups))
    fixtures = dict.fromkeys(_fixture(function) for function in functions
                             if function.fixture and not function.object_text)
    parts = [_header(groups, functions, recorded, remarks, job), *fixtures, *tests, *_support(groups)]
    return '\n\n\n'.join(part.strip('\n') for part in parts) + '\n'


def _header(groups: dict[CaseShape, list[RecordedCase]], functions: Sequence[FunctionCode], recorded: str,
            remarks: Sequence[str], job: ExportJob) -> str:
    values = sentence(job.files.path.with_suffix('.npz').name, 100)
    lines = ['"""Recorded calls as tests: run them with pytest.', '', recorded, f'Their values are in {values}.',
             *(['', *remarks] if remarks else []), '"""', '']
    imports = dict.fromkeys(line for function in functions for line in function.imports if line != _NUMPY)
    definitions = [line for function in functions for line in function.definition]
    folders = list(dict.fromkeys(function.folder for function in functions if function.folder))
    needs_pytest = any(shape.error or len(group) > 1 or (
        shape.function.fixture and not shape.function.object_text) for shape, group in groups.items())
    addresses = any(_ADDRESS.search(case.message) for group in groups.values() for case in group)
    draws = any('random' in shape.restores for shape in groups)
    lines += [*(['import random'] if draws else []), *(['import re'] if addresses else []),
              *(['import sys'] if folders or any(function.before for function in functions) else []),
              'from pathlib import Path', '']
    lines += [*(['import ml_dtypes'] if any(form.extended for form in _forms(groups)) else []), _NUMPY,
              *(['import pytest'] if needs_pytest else []),
              *dict.fromkeys(shape.tensors for shape in groups if shape.tensors), '']
    for folder in folders:
        lines.append(f'{folder_line(folder, job.files.path)}  # where the program imports from')
    lines += ['', *imports, '', "VALUES = np.load(Path(__file__).with_suffix('.npz'))", *definitions]
    return re.sub('\n{4,}', '\n\n\n', '\n'.join(lines))


def _forms(groups: dict[CaseShape, list[RecordedCase]]) -> list[ValueForm]:
    return [form for shape in groups for form in (*shape.arguments, *shape.expected) if isinstance(form, ValueForm)]


def _fixture(function: FunctionCode) -> str:
    return '\n'.join(['@pytest.fixture', f'def {function.fixture}():',
                      f'    """The {function.object_class} that is called: the recording has no objects."""',
                      f"    raise NotImplementedError('return the {function.object_class} that the program makes')"])


def _test(shape: CaseShape, group: Sequence[RecordedCase], names: set[str]) -> str:
    """One test: of one call, or of several as parameters."""
    one = group[0] if len(group) == 1 else None
    name = f'test_{word(shape.function.title)}' + (f'_{word(one.number)}' if one is not None else '')
    while name in names:
        name += '_'
    names.add(name)
    lines = [] if one is not None else _parameters(shape, group)
    given = shape.function.fixture and not shape.function.object_text
    arguments = [*([shape.function.fixture] if given else []),
                 *([] if one is not None else ['call', *(['message'] if shape.error else [])])]
    title = one.title if one is not None else f'{len(group)} calls of {shape.function.title}'
    lines += [f'def {name}({", ".join(arguments)}):', f'    """{title[0].upper()}{title[1:]}."""']
    for module in shape.restores:
        key = repr(f'{one.number}.{module}') if one is not None else f"f'{{call}}.{module}'"
        lines.append('    ' + RESTORES[module].format(key))
    lines += [f'    {line}' for line in shape.function.before]
    if shape.function.object_text:
        lines.append(f'    {shape.function.fixture} = {shape.function.object_text}')
    expression = shape.function.call(_filled(shape.arguments, 'in', one))
    if shape.error:
        return '\n'.join([*lines, *_raising(shape.error, expression, group)])
    expected = ', '.join(_filled(shape.expected, 'out', one))
    cast = ', cast=True' if shape.tensors else ''           # as the framework does with what is no tensor
    return '\n'.join([*lines, f'    result = {expression}', f'    check(result, [{expected}]{cast})'])


def _parameters(shape: CaseShape, group: Sequence[RecordedCase]) -> list[str]:
    if not shape.error:
        numbers = f"@pytest.mark.parametrize('call', {[case.number for case in group]!r})"
        return textwrap.wrap(numbers, 120, subsequent_indent=' ' * 34)
    rows = [f'    ({case.number!r}, {_plain_message(case.message)!r}),' for case in group]
    return ["@pytest.mark.parametrize(('call', 'message'), [", *rows, '])']


def _filled(forms: Sequence[ValueForm | str | None], side: str, one: RecordedCase | None) -> list[str]:
    """The expressions with the keys of their arrays."""
    keys = [repr(f'{one.number}.{side}{slot}') if one is not None else f"f'{{call}}.{side}{slot}'"
            for slot in range(len(forms))]
    return [form.text.format(key) if isinstance(form, ValueForm) else repr(form)
            for form, key in zip(forms, keys, strict=True)]


def _raising(kind: str, called: str, group: Sequence[RecordedCase]) -> list[str]:
    """The lines that expect an exception, by name where it is none of Python's."""
    is_builtin = _is_builtin(kind)
    lines = [f'    with pytest.raises({kind if is_builtin else "BaseException"}) as raised:', f'        {called}']
    if kind.startswith('__main__.'):
        lines.append(f'    assert name_of(raised.type).endswith({kind.removeprefix("__main__")!r})')
    elif not is_builtin:
        lines.append(f'    assert name_of(raised.type) == {kind!r}')
    message = 'message' if len(group) > 1 else repr(_plain_message(group[0].message))
    is_cut = any(len(case.message) >= _LONGEST for case in group)
    text = f'str(raised.value){f"[:{_LONGEST}]" if is_cut else ""}'
    if any(_ADDRESS.search(case.message) for case in group):
        text = f"re.sub('0x[0-9a-fA-F]+', '0x...', {text})"
    return [*lines, f'    assert {text} == {message}']


def _is_builtin(kind: str) -> bool:
    found = getattr(builtins, kind, None)
    return isinstance(found, type) and issubclass(found, BaseException)


def _plain_message(message: str) -> str:
    """The message without addresses, which are others each time."""
    return _ADDRESS.sub('0x...', message)


def _support(groups: dict[CaseShape, list[RecordedCase]]) -> list[str]:
    """The functions that the tests call."""
    returning = [shape for shape in groups if not shape.error]
    parts = [text for begin, text in FUNCTIONS.items()
             if any(begin in one for shape in groups for one in shape.function.texts)]
    if any(shape.error and not _is_builtin(shape.error) for shape in groups):
        parts.append(_NAME_OF)
    if any(form.strings for form in _forms(groups)):
        parts.append(STRINGS)
    if returning:
        tensors = any(shape.tensors for shape in returning)
        expected = [form for shape in returning for form in shape.expected]
        special = (_NOTHING * (None in expected) + _FORM * any(isinstance(form, str) for form in expected)
                   + _STRINGS.format(array="actual.numpy() if hasattr(actual, 'numpy') else actual") * any(
                       isinstance(form, ValueForm) and form.strings for form in expected))
        parts += [_LEAVES] * tensors
        parts.append(_CHECK.replace('{nested}', _NESTED * tensors).replace('{special}', special)
                     .replace('{array}', _OF_TENSOR if tensors else _ARRAY)
                     .replace('{cast}', ', cast=False' * tensors))
    return parts
