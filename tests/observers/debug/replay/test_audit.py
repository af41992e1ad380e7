"""Audits of a program with functions of known properties, in a fresh interpreter: each has its labels and no other."""
from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.observers.record.index.log_reader import DecodedLog

ROOT = Path(__file__).resolve().parents[4]
HERE = Path(__file__).parent
DRAWS = ('draws_numpy', 'draws_python', 'draws_global', 'draws_module', 'make_draws_closure.<locals>.draws_closure',
         'draws_ops', 'Layer.own_generator')
PROPERTIES: dict[str, set[str]] = {
    'prints': {'prints'}, 'prints_error': {'prints'}, 'warns': {'warns'}, 'logs': {'logs'},
    'writes_input': {'writes an input'}, 'alias': {'returns an alias of an input'},
    'writes_and_returns': {'writes an input', 'returns an alias of an input'},
    **{name: {'draws random numbers'} for name in DRAWS},
    'unseeded': {'not deterministic'}, 'system_entropy': {'not deterministic'},
    'of_time': {'depends on time'}, 'of_month': {'depends on time'}, 'of_duration': {'depends on time'},
    'of_thread': {'depends on thread'}, 'of_thread_local': {'depends on thread'},
    'counts': {'writes a global', 'reads a global', 'depends on order'}, 'counts_in_module': {'writes a global'},
    'writes_log': {'writes a global'}, 'writes_only': {'writes a global'}, 'of_step': {'reads a global', 'depends on order'},
    'of_settings': {'reads a global', 'depends on order'},
    'make_counter.<locals>.counter': {'writes its closure', 'depends on order'},
    'default_list': {'writes a default value', 'depends on order'}, 'own_attribute': {'writes an attribute'},
    'Layer.counts': {'writes its object', 'depends on order'}, 'Layer.counts_class': {'writes an attribute'},
    'environment': {'writes a global'}, 'error_state': {'writes a global'}}
"""Of the functions that are not pure, by qualified name; a function that is not here has none."""
NOT_KNOWN = {'of_iterator', 'of_handle'}
"""They use what a trace cannot hold."""


def python(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *args], cwd=folder, env={**os.environ, 'PYTHONPATH': str(ROOT)}, text=True,
                          capture_output=True, timeout=120)


@pytest.fixture(scope='module')
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp('audit')
    shutil.copy(HERE / 'audit_program.py', folder / 'train.py')
    shutil.copy(HERE / 'audit_module.py', folder / 'audit_module.py')
    done = python(folder, '-m', 'pyfuncdbg', 'run', '-q', '--record', 't.pfd', 'train.py', '2.5')
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope='module')
def audits(recorded: Path) -> dict[str, dict[str, Any]]:
    before = sorted(path.name for path in recorded.rglob('*'))
    done = python(recorded, '-m', 'pyfuncdbg', 'show', 't.pfd', 'audit', '--json')
    assert done.returncode == 0 and 'the training begins' not in done.stderr, done.stderr
    assert 'an error' not in done.stderr and 'a record' not in done.stderr
    assert {name for name in sorted(path.name for path in recorded.rglob('*')) if 'pyc' not in name} <= set(before)
    return {site['function']: site for site in json.loads(done.stdout)['sites']}


def labels(audit: dict[str, Any]) -> set[str]:
    return {finding['label'] for finding in audit['findings']}


def test_each_function_has_its_labels_and_no_pure_one_has_any(audits: dict[str, dict[str, Any]]) -> None:
    assert len(audits) >= 50 and set(PROPERTIES) | NOT_KNOWN <= set(audits)
    assert {name: labels(audit) for name, audit in audits.items()} == {name: PROPERTIES.get(name, set()) for name in audits}
    pure = {name for name, audit in audits.items() if audit['purity'] == 'pure'}
    assert pure == set(audits) - (set(PROPERTIES) - {'alias'}) - NOT_KNOWN and len(pure) >= 23


def finding(audit: dict[str, Any], label: str) -> dict[str, Any]:
    (found,) = [one for one in audit['findings'] if one['label'] == label]
    return dict(found)


@pytest.mark.parametrize(('function', 'label', 'subject', 'evidence'), [
    ('writes_input', 'writes an input', 'input 0 x', 'other elements after the call'),
    ('alias', 'returns an alias of an input', 'output 0', 'shares memory with input 0 x'),
    ('draws_module', 'draws random numbers', 'global audit_module.TABLE', 'its state is another'),
    ('draws_numpy', 'draws random numbers', 'numpy.random', 'its state is another'),
    ('draws_ops', 'draws random numbers', 'the generators of eager ops', 'its state is another'),
    ('make_draws_closure.<locals>.draws_closure', 'draws random numbers', 'variable of the closure rng', ''),
    ('Layer.own_generator', 'draws random numbers', 'self.rng', ''),
    ('Layer.counts', 'writes its object', 'self.calls', '0'),
    ('of_month', 'depends on time', 'datetime.now', 'at another time: output 0: 3 of 3 elements'),
    ('of_duration', 'depends on time', 'time.perf_counter', ''),
    ('of_thread', 'depends on thread', 'threading.get_ident', ''),
    ('of_step', 'reads a global', 'global STEP', '0 | 30'),
    ('of_step', 'depends on order', 'global STEP', 'first [0] 0.5 | 30.5'),
    ('of_settings', 'depends on order', 'global SETTINGS.rate', '1.0 | 4.0'),
    ('counts_in_module', 'writes a global', 'global audit_module.COUNTS', "['calls'] 0 before the call, 1"),
    ('make_counter.<locals>.counter', 'writes its closure', 'variable of the closure calls', '0 before the call, 1 after'),
    ('own_attribute', 'writes an attribute', 'own_attribute.last', 'nothing before the call'),
    ('Layer.counts_class', 'writes an attribute', 'Layer.made', '0 before the call, 1 after'),
    ('environment', 'writes a global', 'global os.environ', ''), ('prints', 'prints', 'stdout', 'sum 3.0'),
    ('error_state', 'writes a global', "global NumPy's error state", ''), ('warns', 'warns', 'UserWarning', 'too small')])
def test_findings_name_what_was_seen(audits: dict[str, dict[str, Any]], function: str, label: str, subject: str,
                                     evidence: str) -> None:
    found = finding(audits[function], label)
    assert found['subject'] == subject and evidence in found['evidence'], found
    assert found['calls'] and set(found['calls']) <= set(audits[function]['calls'])


@pytest.mark.parametrize(('function', 'remark'), [
    ('pure_helper', 'reads global SCALE = 2.0, the same at each call'),
    ('pure_timed', 'reads the clock (time.perf_counter); its result does not depend on it'),
    ('pure_fixed_time', 'reads the clock (time.gmtime, time.strftime); its result does not depend on it'),
    ('pure_thread', 'asks for the thread (threading.get_ident, threading.current_thread); its result does not depend on it'),
    ('pure_unused_branch', 'global COUNT differs between calls; its result does not depend on it'),
    ('pure_nan', 'NumPy warns: '), ('of_handle', 'calls not replayed: of_handle uses HANDLE'), ('of_iterator', 'NUMBERS')])
def test_what_is_harmless_and_what_is_not_known_is_a_remark(audits: dict[str, dict[str, Any]], function: str,
                                                            remark: str) -> None:
    assert [text for text in audits[function]['remarks'] if remark in text], audits[function]['remarks']


def test_of_an_object_only_what_the_code_names_is_told(audits: dict[str, dict[str, Any]]) -> None:
    told = json.dumps([audits['of_settings'], audits['pure_arguments']])
    assert 'global SETTINGS.rate' in told and 'reads global ARGS.scale = 2.0, the same at each call' in told
    assert 'SETTINGS.step' not in told and 'SETTINGS.names' not in told
    assert 'ARGS.seed differs between calls; its result does not depend on it' in told


def test_one_site_is_drawn_verdict_first_and_calls_are_the_first_the_last_and_between(recorded: Path) -> None:
    done = python(recorded, '-m', 'pyfuncdbg', 'show', 't.pfd', 'audit', 'of_step', '-n', '2')
    first, *rest = done.stdout.splitlines()
    assert first.startswith('NOT PURE  PyFunc  of_step') and 'of 4 calls' in done.stdout
    assert any(line.startswith('  depends on order  global STEP') for line in rest)
    assert str(recorded / 'train.py') in done.stdout.partition('\nran')[2].replace('\n', '')
    with pyfuncdbg.load(recorded / 't.pfd') as trace:
        numbers = [call.number for call in trace.calls(site='of_step')]
    answer = json.loads(python(recorded, '-m', 'pyfuncdbg', 'show', 't.pfd', 'audit', 'of_step', '-n', '2', '--json').stdout)
    assert answer['sites'][0]['calls'] == [numbers[0], numbers[-1]] and answer['sites'][0]['recorded'] == 4


def test_a_site_that_is_not_there_is_refused_with_the_nearest(recorded: Path) -> None:
    done = python(recorded, '-m', 'pyfuncdbg', 'show', 't.pfd', 'audit', 'of_stepp')
    assert done.returncode == 2 and "'of_stepp'" in done.stderr and 'of_step' in done.stderr.replace('of_stepp', '')


STATE = {'count': 0}
SEEN: list[float] = []


def count_up(x: Any) -> Any:
    STATE['count'] += 1
    SEEN.append(1.0)
    count_up.last = STATE['count']              # type: ignore[attr-defined]
    os.environ['AUDIT_TEST'] = '1'
    return x + STATE['count'] + np.random.rand() + time.time()


def test_in_the_living_program_an_audit_changes_nothing(tmp_path: Path) -> None:
    with pyfuncdbg.record(tmp_path / 't.pfd'):
        for _ in range(3):
            tf.numpy_function(count_up, [1.0], tf.float64)
    os.environ.pop('AUDIT_TEST')
    before = STATE['count'], len(SEEN), vars(count_up).copy(), np.random.get_state()[2], time.time, dict(os.environ)
    with pyfuncdbg.load(tmp_path / 't.pfd') as trace:
        (site,) = trace.audit('count_up', calls=3).sites
    assert {'writes a global', 'writes an attribute', 'draws random numbers'} <= set(site.labels)
    assert any('while the program runs' in remark for remark in site.remarks)
    assert (STATE['count'], len(SEEN), vars(count_up), np.random.get_state()[2], time.time, dict(os.environ)) == before


@pytest.mark.parametrize('damaged', [['function'], ['method', 7, 8], ['partial'], 7, [[['?']]],
                                     ['object', 'subprocess', 'Popen', []]])
@pytest.mark.parametrize('which', [0, 1])
def test_a_damaged_or_hostile_state_is_a_remark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damaged: Any,
                                                which: int) -> None:
    with pyfuncdbg.record(tmp_path / 't.pfd'):
        for step in range(2):
            tf.numpy_function(partial(lambda k, x: x + k, step), [1.0], tf.float64)
    known = DecodedLog.call_state
    with pyfuncdbg.load(tmp_path / 't.pfd') as trace:
        number = [trace.call_state(call.number).numbers[1] for call in trace.calls(kind='python')][which]
        monkeypatch.setattr(DecodedLog, 'call_state', lambda self, row: dataclasses.replace(
            state, function=damaged) if (state := known(self, row)).numbers[1] == number else state)
        (site,) = trace.audit().sites
    assert any('1 of 2 calls not replayed' in remark for remark in site.remarks), site
    assert site.purity == 'pure' and len(site.calls) == 1


def test_a_damaged_state_of_another_call_is_a_remark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pyfuncdbg.record(tmp_path / 't.pfd'), tf.Graph().as_default():
        state = [0.0]
        y = tf.compat.v1.py_func(lambda x: x + state[0], [np.float64(1)], tf.float64)
        with tf.compat.v1.Session() as session:
            for _ in range(2):
                session.run(y)
                state[0] += 1
    known = DecodedLog.call_state
    with pyfuncdbg.load(tmp_path / 't.pfd') as trace:
        one, two = [trace.call_state(call.number).numbers[1] for call in trace.calls(kind='python')]
        assert trace.audit().sites[0].labels == ('depends on order',)
        monkeypatch.setattr(DecodedLog, 'call_state', lambda self, row: dataclasses.replace(
            state, function=['function', []]) if (state := known(self, row)).numbers[1] == two else state)
        (site,) = trace.audit().sites
    assert one != two and site.purity == 'pure' and len(site.calls) == 1
    assert any('is damaged' in remark for remark in site.remarks), site.remarks


def test_functions_of_datasets_say_how_they_may_be_used(tmp_path: Path) -> None:
    state = {'calls': 0}

    def pure(x: Any) -> Any:
        return x * 2

    def counting(x: Any) -> Any:
        state['calls'] += 1
        return x + state['calls']

    def printing(x: Any) -> Any:
        print('element')
        return x

    def augmented(x: Any) -> Any:
        return x + np.random.rand()
    functions = pure, counting, printing, augmented
    with pyfuncdbg.record(tmp_path / 't.pfd'):
        for function in functions:
            numbers = tf.data.Dataset.range(3).map(lambda x: tf.cast(x, tf.float64))
            list(numbers.map(lambda x, f=function: tf.numpy_function(f, [x], tf.float64)))
    with pyfuncdbg.load(tmp_path / 't.pfd') as trace:
        found = {site.function.rpartition('.')[2]: site for site in trace.audit().sites}
    uses = {name: {use.use: use.answer for use in site.dataset} for name, site in found.items()}
    assert uses == {
        'pure': {'parallel': 'yes', 'cached': 'yes', 'stateful=False': 'yes'},
        'counting': {'parallel': 'no', 'cached': 'no', 'stateful=False': 'no'},
        'printing': {'parallel': 'yes', 'cached': 'no', 'stateful=False': 'no'},
        'augmented': {'parallel': 'no', 'cached': 'no', 'stateful=False': 'no'}}
    assert next(use.why for use in found['printing'].dataset if use.use == 'cached') == 'prints'
