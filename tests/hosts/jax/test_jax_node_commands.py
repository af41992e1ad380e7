"""Commands on the nodes of JAX, in a recording with `--ops` and at a stop; calls that are made once more."""
from __future__ import annotations

from pathlib import Path

import pytest
from hosts.jax.jax_program import record, run

from pyfuncdbg.observers.debug.inspecting.recorded_graph import graph_of

pytestmark = [pytest.mark.jax, pytest.mark.timeout(300)]

PROGRAM = """
import jax, jax.numpy as jnp, numpy as np
calls = []
def clip(v, limits):
    low, high = limits
    calls.append(float(high))
    return np.minimum(np.asarray(v), high)
@jax.jit
def step(w, x):
    h = jnp.tanh(x * w)
    c = jax.pure_callback(clip, jax.ShapeDtypeStruct(h.shape, h.dtype), h, (jnp.float32(0.), h[1]))
    return c / h.sum()
for _ in range(2):
    print(np.asarray(step(jnp.float32(2.), jnp.arange(3.))).round(3))
print(len(calls))
"""


@pytest.fixture(scope='module')
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the program and its recording."""
    path = tmp_path_factory.mktemp('nodes')
    done, _ = record(path, PROGRAM, '--ops', '-q')
    assert done.stdout == '[0.    0.491 0.491]\n' * 2 + '2\n', done.stderr
    return path


COMMANDS = {
    'ni step/tanh': ['node step/tanh  tanh  ok', 'an op of the graph, of jax', 'step, 2 runs', '2 calls',
                     'step/mul:0  mul  float32[3] = 0 2 4', 'step/tanh:0  float32[3] = 0 0.964 0.9993',
                     '-> step/slice, step/clip, step/reduce_sum', 'program.py:10 in step'],
    'ni step/clip': ['node step/clip  pure_callback  ok', 'clip  ', 'program.py:4', 'limits[0]', 'step/squeeze:0',
                     'float32[] = 0.964', 'step/clip:0  float32[3] = 0 0.964 0.964  -> step/div'],
    'li step/div': ['9 nodes go into step/div', '├─ step/clip:0 clip  float32[3] = 0 0.964 0.964',
                    '│     └─ step/slice:0  float32[1] = 0.964', '└─ step/reduce_sum:0  float32[] = 1.963'],
    'lo step/tanh': ['5 nodes come of step/tanh', '│  └─ step/div  float32[3] = 0 0.491 0.491',
                     '└─ step/reduce_sum  float32[] = 1.963'],
    'ps program.py:10': ['step/mul mul  2x', 'step/tanh tanh  2x', 'float32[3] = 0 0.964 0.9993', 'h = jnp.tanh(x * w)'],
    'lp --site step/tanh': ['step/tanh', 'tanh', 'program.py:10'],
    'lt --site step/clip': ['4 tensors', '#8 ', '0.6427'],
    'pt step/tanh:0': ['output 0 of call', 'zero 1  + 2  of 3', '0.964028  0.999329'],
    'graph': ['graph of step, 2 runs', 'feeds: w, x', 'fetches: result', '7 nodes'],
}


def test_commands_on_a_recording(folder: Path) -> None:
    for command, expected in COMMANDS.items():
        shown = run(folder, '-m', 'pyfuncdbg', 'show', 'trace', *command.split())
        missing = [words for words in expected if words not in shown.stdout]
        assert not missing, (command, missing, shown.stdout + shown.stderr)


def test_commands_at_a_stop(tmp_path: Path) -> None:
    """The ops that have run are there, and those after the callback not yet."""
    done, _ = record(tmp_path, PROGRAM, '--ops', '--break', 'clip', '--ui', 'prompt', '-q',
                     typed='ni step/tanh\nli step/tanh\nlo step/mul\nps program.py:10\nlp --site step/tanh\nlt\nq\n')
    answers = done.stderr.split('(pfd) ')[1:]
    assert 'node step/tanh  tanh' in answers[0] and '= 0 0.964 0.9993' in answers[0], done.stderr
    assert 'step/mul:0  float32[3] = 0 2 4' in answers[1]
    assert 'step/tanh  float32[3] = 0 0.964 0.9993' in answers[2]
    assert 'step/tanh tanh  1x' in answers[3]
    assert 'step/tanh' in answers[4] and 'step/div  float32' not in done.stderr
    assert '9 tensors' in answers[5] and 'step/mul:0' in answers[5]


def test_a_callback_is_called_once_more(tmp_path: Path) -> None:
    """Within it and after it; each time with the values that it got, and the program gets what the last one gives."""
    typed = 'n\nn\nv = None\nretry\nretry\ninject out0 np.full(3, 7, np.float32)\nb program.py:14\nc\np len(calls)\nq\n'
    done, trace = record(tmp_path, PROGRAM, '--break', 'clip', '--ui', 'prompt', '-q', typed=typed)
    out = done.stderr
    assert out.count("'step/clip' once more: its effects outside (files, prints) happen again") == 2, out
    assert out.count("STOPPED after call 1 of node 'step/clip'") == 2
    assert out.count('step/clip:0  float32[3]  [0, 0.964, 0.964]') == 2
    printed = done.stdout.splitlines()
    assert printed[0] == '[3.565 3.565 3.565]' and printed[1] == '[0.    0.491 0.491]', done.stdout + out
    assert printed[2] == '3'                    # the one that was left before it counted is not among them
    first = next(iter(trace.calls(kind='python')))
    assert first.inputs[0].to_numpy().round(3).tolist() == pytest.approx([0, .964, .999])


SCOPED = """
import jax, jax.numpy as jnp, numpy as np
def clip(v, low):
    return np.maximum(np.asarray(v), low)
def inner(x):
    return jax.pure_callback(clip, jax.ShapeDtypeStruct(x.shape, x.dtype), jnp.sin(x), jnp.float32(0))
@jax.jit
def step(x):
    return inner(x * 2) + 1
print(step(jnp.arange(3.)).shape)
"""


@pytest.mark.parametrize(('options', 'inputs'), [((), ['v', 'low']), (('--ops',), ['step/sin:0', 'low'])])
def test_a_callback_within_a_function_names_its_inputs(tmp_path: Path, options: tuple[str, ...], inputs: list[str]) -> None:
    """By the tensors of the program where its ops are recorded; a constant has no other name than its parameter's."""
    done, trace = record(tmp_path, SCOPED, '-q', *options)
    (call,) = trace.calls(kind='python')
    assert (call.site.name, [tensor.name for tensor in call.inputs]) == ('step/clip', inputs), done.stderr
    assert [tensor.to_numpy().shape for tensor in call.inputs] == [(3,), ()]
    shown = run(tmp_path, '-m', 'pyfuncdbg', 'show', 'trace', 'li', 'step/clip').stdout
    assert f'{4 if options else 2} nodes go into step/clip' in shown, shown
    assert all(f'─ {name}  ' in shown for name in inputs), shown


HOMONYMS = """
import jax, jax.numpy as jnp, numpy as np
def clip(x):
    return np.minimum(np.asarray(x), 1)
def same(v):
    return np.asarray(v)
@jax.jit
def inner(y):
    return jax.pure_callback(same, y, y)
@jax.jit
def step(w, x):
    h = jax.pure_callback(clip, x, x * w)
    return h + inner(x)
print(step(jnp.float32(5), jnp.arange(3.)))
jax.pure_callback(same, jnp.ones(2), jnp.ones(2))
"""


def test_a_parameter_is_no_argument_of_the_program_that_has_its_name(tmp_path: Path) -> None:
    """`x` of the callback is another array than `x` of the program, and that one is passed on under another name, too."""
    done, trace = record(tmp_path, HOMONYMS, '--break', 'clip', '--ui', 'prompt', '-q',
                         typed='pf\npt x\nni step/clip\nli step/clip\nli step/same\nlo step/clip\ngraph\nc\n')
    fed, tensor, card, inputs, passed, users, graph = done.stderr.split('(pfd) ')[1:8]
    assert 'x     float32  3       12 B  0 |███| 2          1' in fed, done.stderr      # was that of the callback, 0 to 10
    assert 'run #1, now' in tensor and '[0]  0  1  2' in tensor
    assert '0  clip(x)  from outside  float32[3] = 0 5 10' in card
    assert 'step/clip:0    what takes it is not known: --ops' in card
    assert '─ clip(x)  from outside' in inputs and '─ x  feed  float32[3] = 0 1 2' in passed
    assert 'what takes its outputs is not known' in ' '.join(users.split())
    row = next(line for line in graph.splitlines() if ' step/clip ' in line)
    assert row.split() == ['0', 'step/clip', 'pure_callback', 'clip', 'clip(x)', '1', 'running']     # and no number of users
    assert {call.site.name: call.inputs[0].name for call in trace.calls(kind='python')} == {
        'step/clip': 'clip(x)', 'step/same': 'x', 'same': 'v'}
    shown = run(tmp_path, '-m', 'pyfuncdbg', 'show', 'trace', 'pt', 'result').stdout
    assert 'fetch of run #1' in shown and '[0]  0  2  3' in shown, shown


SHARDS = """
import os
os.environ['XLA_FLAGS'] = '--xla_force_host_platform_device_count=2'
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()), ('i',))
def part(v):
    return np.asarray(v) * 2
@jax.jit
def step(x):
    return jax.shard_map(lambda s: jax.pure_callback(part, s, s), mesh=mesh, in_specs=P('i'), out_specs=P('i'))(x)
print(step(jnp.arange(4.)))
"""


def test_feeds_are_whole_at_a_stop_on_one_of_several_devices(tmp_path: Path) -> None:
    """With `--ops` the part that a device gets has the name of the whole; a thread of XLA has the part only."""
    done, _ = record(tmp_path, SHARDS, '--ops', '--break', 'part', '--ui', 'prompt', '-q', typed='pf\npt x\nc\nc\n')
    fed, tensor = done.stderr.split('(pfd) ')[1:3]
    assert 'x     float32  4       16 B  0 |▄▄█| 3        1.5' in fed, done.stderr
    assert 'feed of run #' in tensor and '[0]  0  1  2  3' in tensor


CALLBACKS = """
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import io_callback
def split(v):
    return np.asarray(v) * 2, np.asarray(v) + 1
def save(v):
    pass
def scale(v, by):
    return np.asarray(v) * by
def never(v):
    return np.asarray(v)
@jax.jit
def step(x):
    a, b = jax.pure_callback(split, (jax.ShapeDtypeStruct(x.shape, x.dtype),) * 2, x)
    io_callback(save, None, b)
    c = io_callback(scale, x, a, jnp.float32(10), ordered=True)
    d = jax.lax.cond(c[0] > 5, lambda v: jax.pure_callback(never, x, v), jnp.sin, b)
    return c + d
print(np.asarray(step(jnp.arange(3.))).round(1))
"""


def test_callbacks_are_nodes_of_a_run_with_inputs_and_outputs(tmp_path: Path) -> None:
    """Also of the first run, and one that did not run; `--ops` connects them by their tensors."""
    done, trace = record(tmp_path, CALLBACKS, '-q')
    assert done.stdout == '[ 0.8 20.9 40.1]\n', done.stderr
    nodes = {site.name: site for site in graph_of(trace, trace.plans()[0]).nodes.values()}
    assert list(nodes) == ['step/split', 'step/save', 'step/scale', 'step/never']
    assert [node.site.outputs for node in nodes.values()] == [
        ('step/split:0', 'step/split:1'), (), ('step/scale:0',), ('step/never:0',)]
    (tmp_path / 'trace').rename(tmp_path / 'first')
    done, trace = record(tmp_path, CALLBACKS, '-q', '--ops')
    assert done.stdout == '[ 0.8 20.9 40.1]\n', done.stderr
    graph = graph_of(trace, trace.plans()[0])
    assert {use.node for use in graph.outputs('step/split')} >= {'step/save', 'step/scale', 'step/cond'}
    assert [use.tensor for use in graph.inputs('step/scale')] == ['step/split:0', 'by']
    assert [(name, node.op is not None) for name, node in graph.nodes.items() if node.site.function] == [
        ('step/split', True), ('step/scale', True), ('step/never', True), ('step/save', False)]
    assert 'step/pure_callback' not in graph.nodes and 'step/io_callback' not in graph.nodes
