"""Reduction of a call's inputs for `export pytest --shrink`, by calls of the function in a process of their own.

`reduce_inputs` starts the process, feeds it by files and waits for it; `main` runs in it. The function is imported there
only: it may change what it likes, or never return.
"""
from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks import notice
from pyfuncdbg.observers.record.dtypes import dtype_name
from pyfuncdbg.observers.record.processes.followed_process import own_environment
from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.ui.commands.exports.generated_code import sentence
from pyfuncdbg.ui.commands.exports.input_reduction import SECONDS, least_inputs
from pyfuncdbg.ui.commands.exports.recorded_case import CaseValues, ExpectedError
from pyfuncdbg.ui.commands.exports.value_archive import restored_array, stored_array

_PATIENCE = 600
"""Seconds after which a process that has not answered is ended: one call never returns."""
_BOOT = ('import sys; sys.path.insert(0, sys.argv[1]); from pyfuncdbg.ui.commands.exports.reduction_process import main; '
         'main(sys.argv[2])')


def reduce_inputs(call: CallRecord, values: CaseValues) -> tuple[CaseValues, str]:
    """Smaller inputs on which the function fails as it did on those of a call, with what comes of them.

    Args:
        call: One that raised or gave NaN or infinity.
        values: Its function and inputs.

    Returns:
        The values, and a line about the reduction.

    Raises:
        CommandError: It did not fail, fails no more, or its function cannot be called.
    """
    failure = _failure_of(call)
    function = values.function
    if function.fixture or any('VALUES[' in text for text in function.texts):
        raise CommandError(f'--shrink calls the function on inputs alone, and {function.title} needs an object or arrays of '
                           'the program')
    name = sentence(function.expression, 60)
    notice.say(f'--shrink calls {name} of {sentence(call.site.filename, 100)} on parts of the recorded inputs, in another '
               f'process, for at most {SECONDS} s')
    with tempfile.TemporaryDirectory(prefix='pyfuncdbg-') as folder:
        answer = _answer_of_process(Path(folder), values, failure)
        if 'refused' in answer:
            raise CommandError(f'--shrink: {sentence(answer["refused"], 300)}')
        with np.load(Path(folder) / 'reduced.npz') as archive:
            inputs = tuple(restored_array(archive[f'in{slot}'], value.dtype) for slot, value in enumerate(values.inputs))
            outputs = tuple(restored_array(archive[f'out{slot}'], np.dtype(object) if kind == 'O' else old.dtype)
                            if isinstance(old, np.ndarray) else old
                            for slot, (kind, old) in enumerate(zip(answer['outputs'], values.outputs, strict=False)))
    error = ExpectedError(values.error.type, answer['message']) if values.error is not None else None
    before, after = (', '.join(f'{dtype_name(value.dtype)}{list(value.shape)}' for value in each)
                     for each in (values.inputs, inputs))
    remark = f'Inputs were reduced from {before} to {after}, in {answer["calls"]} calls of {name}.'
    return replace(values, inputs=inputs, outputs=outputs, error=error), remark


def _failure_of(call: CallRecord) -> str:
    """'error mod.Refused', 'nan' or 'inf'."""
    if call.error is not None:
        return f'error {call.error.type}'
    stats = [tensor.stats for tensor in call.outputs if tensor.stats is not None]
    if any(each.nan for each in stats):
        return 'nan'
    if any(each.bad for each in stats):
        return 'inf'
    raise CommandError(f'call #{call.number} {call.label} neither raised nor gave NaN or infinity: --shrink reduces inputs '
                       'while a call fails')


def _answer_of_process(folder: Path, values: CaseValues, failure: str) -> dict[str, Any]:
    function = values.function
    arguments = [form.text.format(repr(f'in{slot}')) for slot, form in enumerate(values.arguments)]
    importing = [values.tensors.statement] if values.tensors is not None else []
    job = {'folder': function.folder, 'call': function.call(arguments), 'failure': failure,
           'code': '\n'.join([*importing, *function.imports, *function.definition]),
           'plain': [value.dtype.kind in 'biuf' and value.dtype.isbuiltin == 1 for value in values.inputs]}
    (folder / 'job.json').write_text(json.dumps(job), encoding='utf-8')
    _save(folder / 'inputs.npz', {f'in{slot}': stored_array(value)[0] for slot, value in enumerate(values.inputs)})
    root = str(Path(__file__).parents[4])
    try:
        process = subprocess.run([sys.executable, '-c', _BOOT, root, str(folder)], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=_PATIENCE, check=False,
                                 env=own_environment())
    except subprocess.TimeoutExpired:
        name = sentence(function.expression, 60)
        raise CommandError(f'--shrink: calls of {name} did not return in {_PATIENCE} s') from None
    answer = folder / 'answer.json'
    if not answer.exists():
        last = process.stderr.decode('utf-8', 'replace').strip().rpartition('\n')[2]
        raise CommandError(f'--shrink: the process of {sentence(function.expression, 60)} ended with exit code '
                           f'{process.returncode}: {sentence(last, 200)}')
    found: dict[str, Any] = json.loads(answer.read_text(encoding='utf-8'))
    return found


def _save(path: Path, arrays: dict[str, np.ndarray]) -> None:
    np.savez(path, **arrays)  # type: ignore[arg-type]


# ------------------------------------------------------------------ in the process of the function

def main(folder: str) -> None:
    """Reduce the inputs of a job, and write what was found.

    Args:
        folder: Of the job's files.
    """
    job = json.loads(Path(folder, 'job.json').read_text(encoding='utf-8'))
    with np.load(Path(folder, 'inputs.npz')) as archive:
        inputs = [archive[f'in{slot}'] for slot in range(len(job['plain']))]
    sys.path.insert(0, job['folder'] or os.getcwd())
    function = _Subject(job)
    answer: dict[str, Any] = {}
    try:
        function.load()
        if not function.fails(inputs):
            answer['refused'] = f'the call does not fail here as it did: it {function.came}'
        else:
            least = least_inputs(inputs, function.fails, job['plain'])
            function.fails(least)
            stored = [stored_array(output)[0] for output in function.outputs]
            answer = {'calls': function.calls, 'message': function.message, 'outputs': [each.dtype.kind for each in
                                                                                        function.outputs]}
            arrays = {f'in{slot}': array for slot, array in enumerate(least)}
            _save(Path(folder, 'reduced.npz'), arrays | {f'out{slot}': array for slot, array in enumerate(stored)})
    # The program's module may raise anything while it is imported.
    except Exception as error:
        answer = {'refused': f'its function cannot be had: {type(error).__name__}: {error}'}
    Path(folder, 'answer.json').write_text(json.dumps(answer), encoding='utf-8')


class _Subject:
    """The function of a job, and how a call of it failed."""

    def __init__(self, job: dict[str, Any]) -> None:
        self._job = job
        self._names: dict[str, Any] = {'np': np, 'strings': lambda stored: restored_array(stored, np.dtype(object))}
        self.calls = 0
        self.message = self.came = ''
        self.outputs: list[np.ndarray] = []

    def load(self) -> None:
        """Import the function."""
        import ml_dtypes
        self._names['ml_dtypes'] = ml_dtypes
        exec(self._job['code'], self._names)

    def fails(self, inputs: Sequence[np.ndarray]) -> bool:
        """Whether a call on these stored arrays fails as the recorded one did."""
        self.calls += 1
        self._names['VALUES'] = {f'in{slot}': np.array(array) for slot, array in enumerate(inputs)}
        self.outputs = []
        try:
            result = eval(self._job['call'], self._names)
        # An error of the user's function is a result here.
        except BaseException as error:
            kind = type(error)
            name = kind.__qualname__ if kind.__module__ == 'builtins' else f'{kind.__module__}.{kind.__qualname__}'
            self.message, self.came = str(error), f'raised {name}'
            wanted = self._job['failure'].removeprefix('error ')
            return bool(wanted == name or (wanted.startswith('__main__.') and name.endswith(wanted[len('__main__'):])))
        self.came = 'returned'
        return self._has_flag(result)

    def _has_flag(self, result: Any) -> bool:
        for value in result if isinstance(result, list | tuple) else [result]:
            array = np.asarray(value.numpy() if hasattr(value, 'numpy') else value)
            self.outputs.append(array)
        numbers = [array.astype(np.complex128) for array in self.outputs if array.dtype.kind in 'fcV']
        test = {'nan': np.isnan, 'inf': np.isinf}.get(self._job['failure'])
        return test is not None and any(bool(test(array).any()) for array in numbers)
