"""Eager ops with `--ops`: each once, with its line and its values, where a NaN begins, and results that stay the same."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hosts.jax.jax_program import PROGRAMS, record, run

import pyfuncdbg
from pyfuncdbg.observers.debug.numerics.nan_verdicts import judge
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.records import CallRecord

pytestmark = [pytest.mark.jax, pytest.mark.timeout(300)]


def place(call: CallRecord) -> tuple[str, int]:
    return call.site.op_type, call.site.stack[-1].line


@pytest.fixture(scope='module')
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp('eager')
    plain = run(folder, str(PROGRAMS / 'eager.py'))
    done, trace = record(folder, PROGRAMS / 'eager.py', '--ops')
    assert done.stdout == plain.stdout and done.stdout.count('\n') == 3, done.stderr
    return done, trace


def test_each_op_is_seen_once_with_its_line_and_values(recorded: Any) -> None:
    _, trace = recorded
    run_of_program = next(each.id for each in trace.runs() if each.kind == 'eager')
    calls = [call for call in trace.calls(kind='op') if call.run == run_of_program]
    sums = [call for call in calls if place(call) == ('add', 15)]
    assert [call.outputs[0].to_numpy().tolist() for call in sums] == [[2, 3, 4], [1, 2, 3], [0, 1, 2]]
    assert [float(call.inputs[1].to_numpy()) for call in sums] == [2, 1, 0] and sums[0].site.inputs[0] == 'iota:0'
    (log,) = {call.site.name for call in calls if call.site.op_type == 'log'}
    assert [place(call) for call in calls if call.site.name == log] == [('log', 16)] * 3
    # in a gradient, too: forward at their lines, backward at those of the ops that are differentiated
    forward = [place(call) for call in calls if call.site.op_type in ('multiply', 'sin', 'sqrt', 'reduce_sum')
               and 'backward' not in call.site.attrs]
    assert forward == [('multiply', 9), ('sin', 9), ('sqrt', 10), ('reduce_sum', 10), ('reduce_sum', 21)] * 3
    backward = [place(call) for call in calls if 'backward' in call.site.attrs]
    assert {line for _, line in backward} == {9, 10} and len(backward) % 3 == 0
    # the ops of a compiled function are those of its own runs
    inner = [call for call in trace.calls(kind='op') if call.run != run_of_program]
    assert [call.site.op_type for call in inner] == ['sin', 'mul'] * 6
    assert not [call for call in calls if call.site.op_type == 'jit']


def test_a_nan_begins_at_the_line_of_its_eager_op(recorded: Any) -> None:
    done, trace = recorded
    assert 'Inf born in call' in done.stderr and 'log created at eager.py:16' in done.stderr
    findings = judge(trace).findings
    born = [place(finding.call) for finding in findings if finding.verdict == 'born']
    assert ('log', 16) in born and ('sqrt', 10) in born
    log = next(finding.call.number for finding in findings if place(finding.call) == ('log', 16))
    last = [finding for finding in findings if finding.call.site.name == 'lambda/sin']
    assert [(finding.verdict, finding.origin) for finding in last] == [('inherited', log)]


def test_the_graph_of_eager_code_names_what_ops_take(recorded: Any, tmp_path: Path) -> None:
    _, trace = recorded
    sites = {call.site.name: call.site for call in trace.calls(kind='op')}
    assert sites['log'].inputs[0] == 'add:0' and list(sites['norm'].inputs) == ['where:0']
    drawn = run(tmp_path, '-m', 'pyfuncdbg', 'show', str(trace.path), 'graph', '--run', '1').stdout
    assert 'graph of run #1 eager code of MainThread' in drawn and ' where ' in drawn


TYPES = """
import jax, jax.numpy as jnp
from jax import lax
small = jnp.arange(3, dtype=jnp.bfloat16)
large = jnp.full((200, 300), 2., jnp.bfloat16)
print(small + 1, (large * large).sum(), jnp.sum(jnp.ones(9) > 0), jax.random.uniform(jax.random.key(1)))
big = jnp.ones((900, 900))
print((big @ big).max(), lax.sin(big)[0, 0], jnp.float16(2) + 1j, len(str(jax.random.split(jax.random.key(0)))))
taken = jax.jit(lambda v: v + 1, donate_argnums=0)
print(taken(big * 3)[0, 0])
"""


@pytest.mark.parametrize('level', ['none', 'stats', 'full'])
def test_levels_and_types(tmp_path: Path, level: str) -> None:
    (tmp_path / 'plain.py').write_text(TYPES)
    plain = run(tmp_path, 'plain.py')
    done, trace = record(tmp_path, TYPES, '--ops', '--level', level)
    assert done.stdout == plain.stdout and plain.returncode == 0, done.stderr
    calls = list(trace.calls(kind='op'))
    (product,) = [call for call in calls if call.site.op_type == 'matmul']
    (tensor,) = product.outputs
    assert (tensor.dtype, tensor.shape) == ('float32', (900, 900))
    if level == 'none':
        assert tensor.stats is None
        return
    assert (tensor.stats.max, tensor.stats.pos) == (900, 810_000)
    by_type = {call.site.op_type: call for call in calls if call.outputs[0].dtype == 'bfloat16'}
    assert by_type['add'].outputs[0].to_numpy().tolist() == [1, 2, 3]
    assert by_type['multiply'].outputs[0].stats.max == 4
    if level == 'full':
        assert (product.outputs[0].to_numpy() == 900).all()


def test_a_value_that_is_not_computed_is_waited_for_by_the_recorder_alone(jax: Any, tmp_path: Path) -> None:
    """The program's thread goes on at once, and the values are there all the same."""
    large = jax.numpy.ones((1500, 1500))
    jax.block_until_ready((large @ large) + 1)
    with pyfuncdbg.attach('jax'), Recorder(tmp_path / 'trace', ops=True):
        product = large @ large
        total = product + 1
        is_late = not product.is_ready() and not total.is_ready()
        assert float(total[0, 0]) == 1501
    with pyfuncdbg.load(tmp_path / 'trace') as trace:
        found = {call.site.op_type: call for call in trace.calls(kind='op')}
        assert found['matmul'].outputs[0].stats.max == 1500 and found['add'].outputs[0].stats.min == 1501
        assert is_late


def test_a_function_that_was_compiled_before_is_an_op(jax: Any, tmp_path: Path) -> None:
    """Its own ops cannot be observed any more; compiled again, for other shapes, they are, and it is none."""
    jnp = jax.numpy
    double = jax.jit(lambda v: v * 2)
    before = [jax.block_until_ready(jnp.arange(float(size))) for size in (3, 4)]
    double(before[0]), double(before[0])
    with pyfuncdbg.attach('jax'), Recorder(tmp_path / 'trace', ops=True):
        double(before[0])
    with pyfuncdbg.attach('jax'), Recorder(tmp_path / 'again', ops=True):
        double(before[1]), double(before[1])
    with pyfuncdbg.load(tmp_path / 'trace') as trace:
        (call,) = trace.calls(kind='op')
        assert (call.site.name, call.site.op_type, call.outputs[0].to_numpy().tolist()) == ('lambda', 'jit', [0, 2, 4])
        assert [tensor.to_numpy().tolist() for tensor in call.inputs] == [[0, 1, 2]]
    with pyfuncdbg.load(tmp_path / 'again') as trace:
        assert [call.site.name for call in trace.calls(kind='op')] == ['lambda/mul'] * 2


def test_what_is_typed_at_a_stop_is_no_op_of_the_program(tmp_path: Path) -> None:
    source = 'import jax.numpy as jnp\ndef f(x):\n    y = jnp.sin(x)\n    return jnp.cos(y)\nf(jnp.arange(3.))\n'
    done, trace = record(tmp_path, source, '--ops', '--break', 'program.py:4', '--ui', 'prompt',
                         typed='p jnp.tan(x)\nlt\nc\n')
    assert '1.557' in done.stderr and 'sin:0' in done.stderr, done.stderr
    assert [call.site.op_type for call in trace.calls(kind='op')][-2:] == ['sin', 'cos']
    assert not [call for call in trace.calls(kind='op') if call.site.op_type == 'tan']


def test_a_mistake_of_ours_leaves_the_program_as_it_is(jax: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                       capfd: pytest.CaptureFixture[str]) -> None:
    from pyfuncdbg.hosts.jax.graph_ops import eager_sites

    def broken(*_: Any) -> Any:
        raise ZeroDivisionError('ours')
    monkeypatch.setattr(eager_sites, 'program_frames', broken)
    with pyfuncdbg.attach('jax'), Recorder(tmp_path / 'trace', ops=True):
        assert float(jax.numpy.float32(2) + 1) == 3 and float(jax.lax.sqrt(4.)) == 2
    assert capfd.readouterr().err.count('watching eager ops failed and is switched off: ZeroDivisionError: ours') == 1


WITHIN = """
import jax, jax.numpy as jnp
def body(c, x):
    y = jax.pure_callback(lambda v: v, c, c)
    return jnp.sin(y) + x, c
def near(v):
    return jnp.cos(v)
for k in range(2):
    c, _ = jax.lax.scan(body, jnp.float32(k), jnp.arange(3.))
    d = jax.lax.while_loop(lambda v: v < 5, lambda v: v * 2, c)
    print(float(c), float(d), float(jax.lax.cond(d > 3, near, near, d)), jnp.linalg.inv(jnp.eye(2)).tolist())
    print(float(jax.grad(lambda v: jax.lax.scan(lambda c, x: (c * x, None), v, jnp.full(2, 3.))[0])(1.)))
"""


def test_ops_within_eager_loops_and_branches_have_their_iterations(tmp_path: Path) -> None:
    (tmp_path / 'plain.py').write_text(WITHIN)
    plain = run(tmp_path, 'plain.py')
    done, trace = record(tmp_path, WITHIN, '--ops', '-q')
    assert done.stdout == plain.stdout and done.stdout.count('\n') == 4 and not done.stderr, done.stderr
    (eager,) = {call.run for call in trace.calls()}
    assert [each.kind for each in trace.runs()] == ['eager'] and eager
    calls = [call for call in trace.calls(kind='op') if call.site.name.startswith('scan/sin')]
    assert [(call.ordinal, *place(call)) for call in calls] == [(k, 'sin', 5) for k in range(6)]
    taken = [float(call.inputs[0].to_numpy()) for call in trace.calls(kind='python')]
    assert [float(call.inputs[0].to_numpy()) for call in calls] == taken and len(set(taken)) > 3
    doubled = [call.outputs[0].to_numpy() / call.inputs[0].to_numpy() for call in trace.calls(kind='op')
               if call.site.name == 'while/mul']
    assert len(doubled) >= 2 and set(map(float, doubled)) == {2}
    assert [place(call) for call in trace.calls(kind='op') if call.site.name.startswith('cond/')] == [('cos', 7)] * 2
    # each op is there itself, too, and nothing of JAX's own loops is
    assert [call.site.op_type for call in trace.calls(kind='op') if call.site.op_type in ('scan', 'while', 'cond')
            and '/' not in call.site.name].count('scan') >= 4
    assert all(call.site.stack for call in trace.calls(kind='op') if '/' in call.site.name)
