"""Ops of compiled programs with `--ops`: their lines, values and graph, the tape, and results that stay the same."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hosts.jax.jax_program import PROGRAMS, RELEASE, record, run

from pyfuncdbg.observers.debug.gradients.tape import tape_of
from pyfuncdbg.observers.debug.numerics.nan_verdicts import judge

pytestmark = [pytest.mark.jax, pytest.mark.timeout(400)]
marks_backward_ops = pytest.mark.skipif((0, 0) < RELEASE < (0, 8),
                                        reason='JAX before 0.8 does not mark the ops of a backward pass')


@pytest.fixture(scope='module')
def nan(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The end of `nan.py`, and its recording."""
    return record(tmp_path_factory.mktemp('nan'), PROGRAMS / 'nan.py', '--ops')


def test_health_names_the_op_and_the_line_where_inf_is_born(nan: Any) -> None:
    done, trace = nan
    assert done.stdout == (PROGRAMS / 'nan.out').read_text(), done.stderr
    assert 'Inf born in call' in done.stderr and 'div created at nan.py:9' in done.stderr
    first = next(call for call in trace.calls(kind='op') if call.outputs and call.outputs[0].stats.bad)
    assert (first.site.op_type, first.site.stack[-1].line) == ('div', 9)
    assert float(first.inputs[0].to_numpy()) == .5 and not first.inputs[1].to_numpy().any()
    assert first.site.inputs[1] == 'step/sqrt:0'


CALLBACK = """
import jax, jax.numpy as jnp, numpy as np
def host(v):
    return np.log(np.asarray(v))
print(jax.jit(lambda v: jax.pure_callback(host, v, v) * v)(jnp.array([1., 0.])))
"""


def test_what_a_callback_returns_is_born_in_its_call_and_not_in_the_op(tmp_path: Path) -> None:
    _, trace = record(tmp_path, CALLBACK, '--ops')
    found = [(verdict.call.site.op_type, verdict.call.site.kind, verdict.verdict, verdict.origin)
             for verdict in judge(trace).findings]
    call = next(call.number for call in trace.calls(kind='python'))
    assert found == [('pure_callback', 'python', 'born', ''), ('pure_callback', 'op', 'inherited', call),
                     ('mul', 'op', 'inherited', call)]


@marks_backward_ops
def test_the_tape_begins_to_be_bad_at_its_line_and_tells_the_dead_gradient(nan: Any) -> None:
    _, trace = nan
    tape = tape_of(trace)
    bad = [edge for edge in tape.edges if edge.gradient.remarks and {'Inf', 'NaN'} & set(edge.gradient.remarks)]
    maker = next(node for node in tape.nodes if node.number == bad[0].source)
    assert (maker.op_type, maker.place) == ('mul', 'nan.py:9') and 'Inf' in bad[0].gradient.remarks
    assert [node.place for node in tape.nodes][-1] == 'nan.py:8'
    dead, alive = sorted(tape.sources, key=lambda source: not source.dead)
    assert (alive.name, alive.dead) == ("w['a']", '') and alive.gradient is not None and 'NaN' in alive.gradient.remarks
    assert (dead.name, dead.dead) == ("w['b']", 'stop_gradient, line 9') and dead.fix == 'take jax.lax.stop_gradient away'


DEAD = """
import jax, jax.numpy as jnp
def loss(w):
    a = jnp.floor(w['floored']).sum()
    b = (w['counted'] > 0).sum()
    c = w['plain'].sum() * 2
    return a + b + c
print(jax.tree.map(lambda v: v.tolist(), jax.jit(jax.grad(loss))({
    'floored': jnp.ones(2), 'counted': jnp.ones(2), 'plain': jnp.ones(2), 'unused': jnp.ones(2)})))
"""


@marks_backward_ops
def test_reasons_of_dead_gradients(tmp_path: Path) -> None:
    done, trace = record(tmp_path, DEAD, '--ops')
    assert "'plain': [2.0, 2.0]" in done.stdout, done.stderr
    reasons = {source.name: source.dead for source in tape_of(trace).sources}
    assert reasons == {"w['plain']": '', "w['floored']": 'floor, line 4: its derivative is zero everywhere',
                       "w['counted']": 'gt, line 5: its result is of whole numbers or booleans',
                       "w['unused']": 'it is not used'}


def test_programs_of_many_kinds_have_the_same_results(tmp_path: Path) -> None:
    plain = run(tmp_path, str(PROGRAMS / 'many_ops.py'))
    done, trace = record(tmp_path, PROGRAMS / 'many_ops.py', '--ops')
    assert done.stdout == plain.stdout and plain.stdout.endswith('end\n'), plain.stderr
    assert [line for line in done.stderr.splitlines() if line.startswith('pyfuncdbg: ')] == [
        'pyfuncdbg: ops of lambda outside of shard_map are not watched: XLA shares them among 2 devices; '
        'on one device they are']
    calls = list(trace.calls(kind='op'))
    doubled = [call for call in calls if call.site.name.startswith('loop/while/mul')]
    assert [call.inputs[0].to_numpy().max() for call in doubled] == [5, 10, 20]
    assert {call.site.op_type for call in calls} >= {'scan', 'while', 'cond', 'sort', 'psum_invariant', 'exp', 'dot_general'}
    (call,) = [call for call in calls if call.site.op_type == 'tan']
    assert np.allclose(call.outputs[0].to_numpy(), np.tan(call.inputs[0].to_numpy()), rtol=1e-5)


@marks_backward_ops
def test_a_training_program_with_gathers_convolutions_and_pools(tmp_path: Path) -> None:
    plain = run(tmp_path, str(PROGRAMS / 'digits.py'))
    done, trace = record(tmp_path, PROGRAMS / 'digits.py', '--ops')
    assert 'pyfuncdbg: ' not in done.stderr, done.stderr
    ours, theirs = ([float(line.split()[-1]) for line in text.splitlines()] for text in (done.stdout, plain.stdout))
    assert np.allclose(ours, theirs, rtol=1e-3) and len(theirs) == 6
    assert len([each for each in trace.runs() if each.kind == 'function']) == 40
    tape = tape_of(trace)
    assert {node.op_type for node in tape.nodes} >= {'conv_general_dilated', 'scatter-add', 'select_and_scatter_add',
                                                     'dot_general'}


SHARED = """
import os
os.environ['XLA_FLAGS'] = '--xla_force_host_platform_device_count=4'
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ('i', 'j'))
x = jax.device_put(jnp.arange(32.).reshape(8, 4), NamedSharding(mesh, P('i', 'j')))
@jax.jit
def step(x):
    h = jnp.tanh(x @ x.T)
    return h / h.sum(axis=0), h.sum()
places = P('i', 'j')
within = jax.jit(jax.shard_map(lambda v: jnp.cos(v).sum(keepdims=True), mesh=mesh, in_specs=places, out_specs=places))
for _ in range(2):
    h, s = step(x)
print(h.sharding, s.sharding, float(s), within(x).sum())
print(jax.jit(jnp.sin)(1.))
"""


def test_a_program_on_several_devices_stays_as_it_is(tmp_path: Path) -> None:
    """No value is gathered for us, and XLA has nothing to warn of; what a device does within `shard_map` is seen."""
    (tmp_path / 'plain.py').write_text(SHARED)
    plain = run(tmp_path, 'plain.py')
    done, trace = record(tmp_path, SHARED, '--ops', '-q')
    assert done.stdout == plain.stdout and plain.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert all(line.startswith('pyfuncdbg: ops of ') for line in lines) and lines.count(
        'pyfuncdbg: ops of step outside of shard_map are not watched: XLA shares them among 4 devices; '
        'on one device they are') == 1
    ops = {call.site.op_type for call in trace.calls(kind='op') if not call.site.traits.runs_graph}
    assert 'cos' in ops and 'tanh' not in ops
