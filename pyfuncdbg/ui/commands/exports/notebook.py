"""A notebook that makes recorded calls again: cells for the inputs, the call and what was recorded of it.

Source: nbformat 4.5, whose JSON is written here: a reader of notebooks needs no library to write one.
"""
from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from pyfuncdbg.errors import CommandError
from pyfuncdbg.ui.commands.exports.export_job import ExportJob, Written
from pyfuncdbg.ui.commands.exports.exported_calls import ExportedCalls
from pyfuncdbg.ui.commands.exports.function_code import FunctionCode
from pyfuncdbg.ui.commands.exports.generated_code import file_stem, folder_line, recorded_line, sentence
from pyfuncdbg.ui.commands.exports.random_state_code import RESTORES
from pyfuncdbg.ui.commands.exports.recorded_case import RecordedCase, collect_cases
from pyfuncdbg.ui.commands.exports.recorded_value import FUNCTIONS
from pyfuncdbg.ui.commands.exports.value_archive import STRINGS, ValueForm

RESERVED = ('Path', 'VALUES', 'functools', 'generator', 'importlib', 'made', 'ml_dtypes', 'np', 'random', 'recorded',
            'result', 'runpy', 'strings', 'sys', 'tf')
"""Names that the notebook uses itself."""
_METADATA = {'kernelspec': {'display_name': 'Python 3', 'language': 'python', 'name': 'python3'},
             'language_info': {'name': 'python'}}


def notebook_name(calls: ExportedCalls) -> str:
    """'norm_17': the name of the notebook, without its suffix."""
    return file_stem(calls.chosen or ())


def write_notebook(job: ExportJob) -> Written:
    """Write the notebook, and the values beside it.

    Args:
        job: Calls and files; `with_source` allows recorded source.

    Raises:
        CommandError: None of the calls can be made again; of a single one the reason.
    """
    path = job.files.path
    if path.suffix != '.ipynb':
        raise CommandError(f'{str(path)!r}: a notebook ends in .ipynb, such as -o {path.stem}.ipynb')
    file = job.files.text()
    cases, refusals = collect_cases(job, RESERVED)
    remarks = tuple(dict.fromkeys(remark for case in cases for remark in case.shape.function.remarks))
    cells = [*_beginning(cases, job, remarks), *(cell for case in cases for cell in _cells_of(case))]
    for number, cell in enumerate(cells):
        cell['id'] = f'cell-{number}'
    json.dump({'cells': cells, 'metadata': _METADATA, 'nbformat': 4, 'nbformat_minor': 5}, file, indent=1)
    file.write('\n')
    return Written(len(cases), skipped=len(refusals), remarks=(*remarks, *refusals[:1]))


def _beginning(cases: Sequence[RecordedCase], job: ExportJob, remarks: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The title, and the cell that imports."""
    path, shapes = job.files.path, [case.shape for case in cases]
    forms = [form for shape in shapes for form in (*shape.arguments, *shape.expected) if isinstance(form, ValueForm)]
    lines = [recorded_line(job.calls.trace.info()), f'The values are in {path.with_suffix(".npz").name}.', *remarks]
    yield _text(['# Recorded calls', '', *(line for one in lines for line in (_plain(one), ''))])
    functions = list(dict.fromkeys(shape.function for shape in shapes))
    folders = dict.fromkeys(function.folder for function in functions if function.folder)
    imports = dict.fromkeys(line for function in functions for line in function.imports if line != 'import numpy as np')
    draws = any('random' in shape.restores for shape in shapes)
    yield _code([*(['import random'] if draws else []), *(['import sys', 'from pathlib import Path', ''] if folders else []),
                 *(['import ml_dtypes'] if any(form.extended for form in forms) else []), 'import numpy as np',
                 *dict.fromkeys(shape.tensors for shape in shapes if shape.tensors), '',
                 *(f"{folder_line(folder, path, own='Path().resolve()')}  # where the program imports from"
                   for folder in folders),
                 '', *imports, '', f'VALUES = np.load({path.with_suffix(".npz").name!r})'])
    if any(form.strings for form in forms):
        yield _code(STRINGS.splitlines())
    definitions = [line for function in functions for line in function.definition]
    if definitions:
        yield _code(definitions)
    for begin, text in FUNCTIONS.items():
        if any(begin in one for function in functions for one in function.texts):
            yield _code(text.splitlines())
    unmade = dict.fromkeys((function.fixture, function.object_class) for function in functions
                           if function.fixture and not function.object_text)
    for name, kind in unmade:
        yield _code([f'{name} = ...  # make the {kind} as the program does'])


def _cells_of(case: RecordedCase) -> Iterator[dict[str, Any]]:
    shape = case.shape
    names = _input_names(shape.function, len(shape.arguments))
    yield _text([f'## {_plain(case.title[0].upper() + case.title[1:])}'])
    if names:
        yield _code([f'{name} = {form.text.format(repr(f"{case.number}.in{slot}"))}'
                     for slot, (name, form) in enumerate(zip(names, shape.arguments, strict=True))])
    if shape.restores:
        yield _code([RESTORES[module].format(repr(f'{case.number}.{module}')) for module in shape.restores])
    if shape.function.before:
        yield _code(['import sys', *shape.function.before])
    if shape.function.object_text:
        yield _code([f'{shape.function.fixture} = {shape.function.object_text}'])
    called = _code([f'result = {shape.function.call(names)}', 'result'])
    if shape.error:
        called['metadata'] = {'tags': ['raises-exception']}     # a run of all cells goes on behind it
    yield called
    if shape.error:
        yield _text([f'Recorded: `{_plain(sentence(f"{shape.error}: {case.message}", 1_000))}`'])
        return
    recorded = [form.text.format(repr(f'{case.number}.out{slot}')) if isinstance(form, ValueForm) else repr(form)
                for slot, form in enumerate(shape.expected)]
    yield _code([f'recorded = {recorded[0] if len(recorded) == 1 else "[" + ", ".join(recorded) + "]"}', 'recorded'])


def _input_names(function: FunctionCode, inputs: int) -> list[str]:
    """The names of the parameters; 'in0' where they are not known, or taken."""
    is_known = function.form is None and len(function.parameters) == inputs
    names = list(function.parameters) if is_known else [f'in{slot}' for slot in range(inputs)]
    taken = {*RESERVED, function.expression.partition('.')[0], function.fixture}
    return [f'{name}_' if name in taken else name for name in names]


def _plain(text: str) -> str:
    """Text for a Markdown cell: none of it is HTML, code or a link of its own."""
    return ''.join(f'\\{char}' if char in '<>[]*_#!|$' else char for char in text.replace('`', "'"))


def _text(lines: Sequence[str]) -> dict[str, Any]:
    return {'cell_type': 'markdown', 'id': '', 'metadata': {}, 'source': _source(lines)}


def _code(lines: Sequence[str]) -> dict[str, Any]:
    return {'cell_type': 'code', 'execution_count': None, 'id': '', 'metadata': {}, 'outputs': [], 'source': _source(lines)}


def _source(lines: Sequence[str]) -> list[str]:
    return '\n'.join(lines).strip('\n').splitlines(keepends=True)
