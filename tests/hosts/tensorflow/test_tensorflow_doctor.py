"""`pyfuncdbg doctor` on small programs with a fault each, as a user runs it: the finding, its line, its figures, its fix."""
from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

import pyfuncdbg
from pyfuncdbg.hosts import Attachment, doctors
from pyfuncdbg.observers.debug.diagnosis.diagnose import diagnose
from pyfuncdbg.ui.commands.engine.to_json import to_json

pytestmark = [pytest.mark.tensorflow, pytest.mark.timeout(300)]
HERE = Path(__file__).parent
ROOT = Path(pyfuncdbg.__file__).resolve().parents[1]
SEVERAL = str(HERE / 'several_programs.py')
TOGETHER = ('taping', 'leaking', 'shaping', 'waiting', 'crowding', 'texts', 'returning', 'writing', 'differentiating',
            'dropping', 'mapping', 'called_before', 'sessions', 'declaring')
ENVIRONMENT = {'TF_CPP_MIN_LOG_LEVEL': '3', 'PYTHONPATH': str(ROOT)}


def run(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *args], cwd=folder, env=os.environ | ENVIRONMENT, capture_output=True, text=True,
                          timeout=200)


@pytest.fixture(scope='module')
def examined(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace of all programs that come to their end, and beside it what they printed: one import of TensorFlow for all."""
    folder = tmp_path_factory.mktemp('examined')
    programs = [str(HERE / 'faulty' / f'{name}.py') for name in TOGETHER]
    done = run(folder, '-m', 'pyfuncdbg', 'doctor', '--record', 'it.pfd', SEVERAL, *programs)
    assert done.returncode == 0, done.stderr
    (folder / 'printed').write_text(done.stdout)
    return folder / 'it.pfd'


def doctor(examined: Path, name: str) -> tuple[list[dict[str, Any]], list[str]]:
    """The findings in one of the programs, and what it printed."""
    with pyfuncdbg.load(examined) as trace:
        findings = json.loads(to_json(diagnose(trace, doctors())))['findings']
    found = [one for one in findings if Path(one['place']['filename']).stem == name]
    for one in found:                           # every fix can be pasted
        ast.parse('def f():\n' + textwrap.indent(one['fix'] or 'pass', '    '))
    _, _, printed = examined.with_name('printed').read_text().partition(f'== {name}\n')
    return found, printed.partition('== ')[0].splitlines()


def line_of(name: str, text: str) -> int:
    """The first line of a program that holds a text."""
    lines = (HERE / 'faulty' / f'{name}.py').read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def at(finding: dict[str, Any], name: str) -> tuple[str, int]:
    assert Path(finding['place']['filename']).name == f'{name}.py'
    return finding['kind'], finding['place']['line']


def test_each_eager_call_leaks_an_entry_and_what_its_closure_holds(examined: Path) -> None:
    (found,), printed = doctor(examined, 'leaking')
    assert at(found, 'leaking') == ('leak', line_of('leaking', 'y = tf.py_function'))
    figures = found['figures']
    assert figures['entries'] == figures['calls'] == int(printed[0]) == 25
    assert (figures['arrays held'], figures['held bytes']) == (25, 25 * 8000)
    assert 8000 <= figures['growth a call, bytes'] < 10_000
    assert found['fix'] == 'y = weigher(step)(tf.constant(1.0, tf.float64))'


def test_tapes_without_a_gradient_stay_with_inputs_and_outputs(examined: Path) -> None:
    found, printed = doctor(examined, 'taping')
    tapes, leak = sorted(found, key=lambda one: one['kind'] == 'leak')
    line = line_of('taping', 'y = tf.py_function')
    assert (at(tapes, 'taping'), at(leak, 'taping')) == (('tape cache', line), ('leak', line))
    assert tapes['figures']['entries'] == int(printed[0]) == 12
    assert (tapes['figures']['arrays held'], tapes['figures']['held bytes']) == (24, 24 * 4000)
    assert leak['fix'] == 'y = square(w * step)'


def test_a_lost_shape_comes_with_the_line_that_gives_it_back(examined: Path) -> None:
    found, printed = doctor(examined, 'shaping')
    assert printed[:3] == ['(2, 3)', '(3, 3)', '(4, 3)']
    assert [at(one, 'shaping') for one in found] == [('shape', line_of('shaping', text)) for text in (
        'image = tf', 'half, rest = ', 'return tf.py_function')]
    assert [one['fix'] for one in found] == [
        'image.set_shape([None, 3])', 'half.set_shape([2])\nrest.set_shape([2])',
        'return tf.ensure_shape(tf.py_function(tf.sin, [x], tf.float32), [1]) * 2.0']
    assert [one['figures']['nodes without shape'] for one in found] == [0, 2, 1]


@pytest.mark.parametrize(('name', 'function', 'target'), [('untraceable', 'middle', 'y'),
                                                          ('shapeless_layer', 'normalize', 'x')])
def test_a_graph_that_could_not_be_made_for_want_of_a_shape(name: str, function: str, target: str, tmp_path: Path) -> None:
    done = run(tmp_path, '-m', 'pyfuncdbg', 'doctor', '--json', str(HERE / 'faulty' / f'{name}.py'))
    told = json.loads(done.stderr.splitlines()[-1])
    (found,) = told['findings']
    assert (done.returncode, told['calls'], found['site']) == (1, 0, function) and 'unknown rank' in told['raised']
    assert (at(found, name), found['fix']) == (('shape', line_of(name, f'{target} = tf')), f'{target}.set_shape([])')


def test_functions_that_wait_for_nothing(examined: Path) -> None:
    found, _ = doctor(examined, 'waiting')
    serial, order = sorted(found, key=lambda one: one['kind'], reverse=True)
    assert at(serial, 'waiting') == ('serial', line_of('waiting', 'y = tf.numpy_function'))
    assert serial['figures']['most at once'] == 1 and serial['figures']['waiting seconds'] >= 20 * 0.02
    assert serial['fix'] == 'dataset = dataset.map(element, num_parallel_calls=tf.data.AUTOTUNE)'
    assert at(order, 'waiting') == ('order', line_of('waiting', 'b = tf.numpy_function'))
    assert order['figures']['could overlap, seconds'] >= 5 * 0.05
    assert order['fix'] == 'b = tf.numpy_function(right, [x], tf.float32, stateful=False)'


def test_how_parallel_a_map_is(examined: Path) -> None:
    with pyfuncdbg.load(examined) as trace:
        (site,) = {call.site.id for call in trace.calls(limit=None) if call.site.function == 'count'}
        facts = [note.data for note in trace.notes('fact') if note.data['kind'] == 'occupancy']
    figures = [fact['data'] for fact in facts if fact['site'] == site][-1]
    assert figures['calls'] == 40 and figures['together'] == figures['threads'] == 2
    assert 0 < figures['cpu'] < 1.25 * figures['busy'] and figures['busy'] < figures['wall']     # two take turns
    assert figures['asked'] > 0 and figures['waited'] > 0


def test_bytes_that_are_taken_for_text(examined: Path) -> None:
    found, printed = doctor(examined, 'texts')
    assert printed == ['[0.0, 0.0, 0.0]', 'InvalidArgumentError', 'UnknownError']
    assert [at(one, 'texts') for one in found] == [('text', line_of('texts', text)) for text in (
        "label == 'cat'", 'path.startswith', 'word.upper')]
    assert [one['fix'] for one in found] == ['label = label.decode()', 'path = path.decode()',
                                             'word = word.numpy().decode()']
    assert found[0]['figures']['calls'] == 3 and found[1]['figures']['calls that raised'] == 1


def test_results_that_are_not_what_tout_declares(examined: Path) -> None:
    found, _ = doctor(examined, 'returning')
    place = line_of('returning', 'y = op(')
    assert {at(one, 'returning')[1] for one in found} == {place}
    cast = next(one for one in found if 'says int32' in one['what'])
    assert cast['figures']['elements changed'] == 2 and 0.39 < cast['figures']['largest change'] < 0.71
    assert cast['fix'] == 'return np.asarray(np.asarray(x) * 1000.7, np.int32)'
    assert sorted((one['kind'], one['what'].partition(':')[0]) for one in found) == [
        ('dtype', 'The function returns float32, Tout says int32'),
        ('dtype', 'The function returns float64, Tout says float32'),
        ('dtype', 'The output is float64 (a Python float, and most of NumPy, is float64), Tout says float32'),
        *[('outputs', 'The function returns 2 values, Tout declares 1')] * 2,
        ('outputs', 'The function returns nothing (None), Tout declares 1')]


def test_what_tout_declares_and_nothing_checks(examined: Path) -> None:
    found, printed = doctor(examined, 'declaring')
    assert printed == ['(3,)', '(3,)', 'int64', 'float32', '(3,)']
    assert [(at(one, 'declaring'), one['fix']) for one in found] == [
        (('untrue shape', line_of('declaring', 'print(tf.py_function(three, [tf.constant(1.0)], tf.TensorSpec([2]')),
         'tf.TensorSpec([3], tf.float32)'),
        (('untrue shape', line_of('declaring', 'tf.TensorSpec([4]')), 'tf.TensorSpec([3], tf.float32)'),
        (('dtype', line_of('declaring', 'whole, [')), 'return np.asarray(np.int64(x), np.float32)')]
    assert [one['figures'].get('shape in Tout') for one in found] == ['[2]', '[4]', None]
    assert 'The output is int64, Tout says float32: eagerly that is not checked' in found[2]['what']


def test_a_function_that_writes_to_the_callers_tensor(examined: Path) -> None:
    (found,), printed = doctor(examined, 'writing')
    assert printed == ['[0. 2. 0.]']
    assert at(found, 'writing') == ('write', line_of('writing', 'y = tf.numpy_function'))
    assert found['figures'] == {'calls that wrote': 1, 'calls seen': 1, 'argument bytes': 12}
    assert found['fix'] == 'values = values.copy()'


def test_gradients_that_are_none_or_fail(examined: Path) -> None:
    found, printed = doctor(examined, 'differentiating')
    assert printed == ['None None', 'None', '2.0', 'UnknownError']
    lines = [line_of('differentiating', text) for text in ('tf.numpy_function(double', 'tf.py_function(times', 'np.sin',
                                                           'tf.py_function(double')]
    assert [at(one, 'differentiating') for one in found] == [
        *[('gradient', line) for line in lines[:3]], ('backward', lines[3])]
    assert [one['figures'].get('source') for one in found[:3]] == ['weight'] * 3
    assert [one['fix'] for one in found[:2]] == ['y = tf.py_function(double, [x * w], tf.float32)',
                                                 'y = tf.py_function(times, [x, w], tf.float32)']


def test_elements_of_datasets_and_several_functions_in_a_line(examined: Path) -> None:
    found, printed = doctor(examined, 'mapping')
    assert printed == ['[(3,), (2,)]', '[0, 1, 2]', 'InvalidArgumentError', 'InvalidArgumentError']
    lines = [line_of('mapping', text) for text in ('return tf.numpy_function', 'x = tf.numpy', "str(mode) == 'train'",
                                                   'np.float64(x)')]
    kinds = ('shape', 'untrue shape', 'text', 'dtype')
    assert [at(one, 'mapping') for one in found] == list(zip(kinds, lines, strict=True))
    shape, untrue, text, dtype = found
    call = 'tf.numpy_function(lambda a: a[:int(a[0]) + 1], [x], tf.float32)'
    assert shape['fix'] == f'return tf.ensure_shape({call}, [None])'
    assert untrue['fix'] == 'x.set_shape([None, 48, 3])' and len(untrue['calls']) == 1
    assert (untrue['figures']['of another shape'], untrue['figures']['shape in the graph']) == (1, '[48, 48, 3]')
    assert text['fix'] == 'mode = mode.decode()'
    assert 'tf.numpy_function(lambda x: np.asarray(np.float64(x), np.float32), [x]' in dtype['fix']
    assert dtype['fix'].count('np.asarray') == 1 and dtype['figures']['calls'] == 1


def test_a_shape_that_is_lost_by_a_dataset_made_after_the_functions_first_call(examined: Path) -> None:
    found, printed = doctor(examined, 'called_before')
    assert printed == ['[(3,), (2,)]']
    assert [(at(one, 'called_before'), one['figures']['calls seen']) for one in found] == [
        (('shape', line_of('called_before', 'return tf.numpy')), 3)]


def test_plain_gradients_of_ref_variables_and_a_call_that_spans_lines(examined: Path) -> None:
    found, printed = doctor(examined, 'sessions')
    assert printed == ['None (3,)']
    (none,) = found
    assert at(none, 'sessions') == ('gradient', line_of('sessions', 'tf1.py_func(')) and none['figures']['source'] == 'u'
    assert none['fix'] == ("y, z = tf1.py_function(\n    pair, [u, 1],  # two of them\n    [tf.float32] * 2,\n"
                           "    name='tanh')")


def test_exceptions_that_a_dataset_drops(examined: Path) -> None:
    (found,), printed = doctor(examined, 'dropping')
    assert printed == ['6'] and at(found, 'dropping') == ('lost', line_of('dropping', 'raise ValueError'))
    assert found['figures'] == {'calls that raised': 4, 'errors told': 0, 'calls': 10} and '0 is broken' in found['what']
    assert found['fix'] == 'dataset = tf.data.Dataset.range(10).map(element)'


def test_a_model_that_is_saved_without_its_function(tmp_path: Path) -> None:
    done = run(tmp_path, '-m', 'pyfuncdbg', 'doctor', '--json', str(HERE / 'faulty' / 'exporting.py'), 'model')
    assert (done.returncode, done.stdout) == (7, 'saved\n')
    (found,) = json.loads(done.stderr.splitlines()[-1])['findings']
    assert at(found, 'exporting') == ('export', line_of('exporting', 'y = tf.py_function'))
    assert found['site'] == 'square' and found['figures'] == {'ops in the model': 1}
    program = tmp_path / 'load.py'
    program.write_text('import tensorflow as tf\ntf.saved_model.load("model").serve(tf.constant(1.0))\n')
    done = run(tmp_path, '-m', 'pyfuncdbg', 'doctor', '--json', 'load.py')
    told = json.loads(done.stderr.splitlines()[-1])
    assert done.returncode == 1 and 'pyfunc_0' in told['findings'][0]['what']
    assert told['raised'].startswith('ValueError: Could not find callback')


def test_generators_that_are_gone_are_told_of_once_in_debug_mode_too(tmp_path: Path) -> None:
    """There tf.data makes functions of a generator on a thread of its own, where no line of the program stands."""
    lines = ['import numpy as np', 'import tensorflow as tf', 'tf.data.experimental.enable_debug_mode()', 'def numbers():',
             '    yield np.float32(1)', 'for _ in range(12):',
             '    list(tf.data.Dataset.from_generator(numbers, output_signature=tf.TensorSpec((), tf.float32)))']
    program = tmp_path / 'generating.py'
    program.write_text('\n'.join(lines) + '\n')
    done = run(tmp_path, '-m', 'pyfuncdbg', 'doctor', '--json', 'generating.py')
    (found,) = json.loads(done.stderr.splitlines()[-1])['findings']
    assert at(found, 'generating') == ('leak', 7) and found['site'] == 'numbers'


def test_healthy_programs_have_no_findings_and_do_what_they_do_alone(tmp_path: Path) -> None:
    args = [SEVERAL, str(HERE / 'faulty' / 'healthy.py'), str(HERE / 'keras_digits.py'), '--',
            str(ROOT / 'pyfuncdbg' / 'demo' / 'digits.csv.gz')]
    plain = run(tmp_path, *args)
    watched = run(tmp_path, '-m', 'pyfuncdbg', 'doctor', *args)
    assert (watched.returncode, watched.stdout) == (0, plain.stdout) and plain.stdout.count('\n') > 5
    assert '0 findings' in watched.stderr and 'None of the known faults was found' in watched.stderr


def test_an_examination_is_taken_back(tf: Any, replaced: dict[tuple[Any, str], Any]) -> None:
    from tensorflow.python.framework import errors_impl
    from tensorflow.python.ops import script_ops
    from tensorflow.python.saved_model import save
    attachment = Attachment('tensorflow', examine=True)
    attachment.install()
    registry = script_ops.FuncRegistry
    for owner, name in ((registry, 'insert'), (registry, 'get'), (script_ops.EagerFunc, '_call'),
                        (errors_impl.OpError, '__init__'), (save, 'save_and_return_nodes')):
        assert vars(owner)[name] is not replaced[owner, name]
    for _ in range(3):
        tf.py_function(tf.sin, [tf.constant(1.0)], tf.float32)
    attachment.detach()
    assert all(vars(owner).get(name) is original for (owner, name), original in replaced.items())
    (leak,) = [fact for fact in attachment.facts() if fact.kind == 'leak']
    assert (leak.filename, leak.data['entries'], leak.data['calls']) == (__file__, 3, 3)


LEAVES = """
import os, signal, sys, time
import tensorflow as tf
for i in range(20):
    tf.py_function(tf.sin, [tf.constant(1.0)], tf.float32)
print('out', flush=True)
import pyfuncdbg
gathered = False
while not gathered:
    time.sleep(0.1)
    with pyfuncdbg.load('it.pfd') as trace:
        gathered = any(note.data['kind'] == 'leak' and note.data['data']['entries'] == 20 for note in trace.notes('fact'))
%s
"""


@pytest.mark.parametrize(('end', 'code'), [('os._exit(5)', 5), ('os.kill(os.getpid(), signal.SIGKILL)', 128 + 9)])
def test_who_leaves_without_ending_has_left_what_was_gathered(tmp_path: Path, end: str, code: int) -> None:
    (tmp_path / 'leaves.py').write_text(LEAVES % end)
    done = run(tmp_path, '-m', 'pyfuncdbg', 'doctor', '--record', 'it.pfd', 'leaves.py')
    assert (done.returncode, done.stdout) == (code, 'out\n')
    assert 'LEAK  leaves.py:5' in done.stderr and 'entries 20' in done.stderr and 'left by os._exit' in done.stderr
