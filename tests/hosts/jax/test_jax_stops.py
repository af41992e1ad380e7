"""Stops in callbacks and at `jax.debug.breakpoint`."""
from __future__ import annotations

from pathlib import Path

import pytest
from hosts.jax.jax_program import PROGRAMS, RELEASE, record

pytestmark = [pytest.mark.jax, pytest.mark.timeout(300)]

STEPS = """
import jax, jax.numpy as jnp, numpy as np
S = jax.ShapeDtypeStruct((3,), jnp.float32)
def clip(v, limits):
    low, high = limits
    return np.minimum(np.asarray(v), high)
@jax.jit
def step(v):
    return jax.pure_callback(clip, S, v, (jnp.float32(0.), v[1]))
for _ in range(3):
    print(step(jnp.arange(3.)))
"""


def test_a_stop_shows_arguments_and_steps(tmp_path: Path) -> None:
    typed = 'p limits\nn\nn\np float(high)\nr\ninject out0 np.full(3, 7, np.float32)\nc\nq\n'
    done, trace = record(tmp_path, STEPS, '--break', 'clip', '--ui', 'prompt', typed=typed)
    assert "STOPPED entering clip at program.py:4, call 1 of node 'step/clip'" in done.stderr, done.stderr
    assert 'STOPPED in clip at program.py:6' in done.stderr
    assert '\n1.0\n' in done.stderr
    assert '[7. 7. 7.]\n' in done.stdout and '[0. 1. 1.]\n' in done.stdout
    assert [call.outputs[0].to_numpy().tolist() for call in trace.calls(kind='python')] == [[0, 1, 1]] * 3


LOGS = """
import functools
import jax, jax.numpy as jnp
def log(v, *, tag):
    print(tag, float(v))
def part(tag, v):
    print(tag, float(v))
@jax.jit
def step(v):
    jax.debug.callback(log, v, tag='compiled')
    jax.debug.callback(functools.partial(part, 'part'), v * 2)
    return v
step(jnp.float32(2))
jax.debug.callback(log, jnp.float32(3), tag='eager')
"""


def test_a_breakpoint_stops_in_a_function_of_debug_callback(tmp_path: Path) -> None:
    """JAX calls it from a function of flat arguments of its own, not from a method."""
    done, _ = record(tmp_path, LOGS, '--break', 'log', '--break', 'part', '--ui', 'prompt',
                     typed='inject in0 v * 10\nn\nc\np tag\nc\nc\n')
    out = done.stderr
    assert "STOPPED entering log at program.py:4, call 1 of node 'step/log'" in out, out
    assert 'STOPPED in log at program.py:5' in out
    assert "STOPPED entering part at program.py:6, call 1 of node 'step/part'" in out and "\n'part'\n" in out
    assert "STOPPED before call 1 of node 'log'" in out
    assert done.stdout == 'compiled 20.0\npart 4.0\neager 3.0\n'


RETRACED = """
import functools
import jax, jax.numpy as jnp, numpy as np
def clip(v):
    v = np.asarray(v)
    return v * 2
def part(k, v):
    return np.asarray(v) + k
@jax.jit
def step(v):
    return jax.pure_callback(functools.partial(part, 1), v, jax.pure_callback(clip, v, v))
for size in 2, 3, 4:
    print(step(jnp.ones(size)))
"""


def test_a_place_keeps_its_name_when_it_is_compiled_again(tmp_path: Path) -> None:
    """Also where a breakpoint has given its function other code meanwhile, or a new `partial` is made at each trace."""
    done, trace = record(tmp_path, RETRACED, '--break', 'clip', '--ui', 'prompt', '-q',
                         typed='b program.py:6 if v.size == 3\nc\nc\nc\nq\n')
    assert 'STOPPED in clip at program.py:6, call 2' in done.stderr, done.stderr
    assert done.stdout == '[3. 3.]\n[3. 3. 3.]\n[3. 3. 3. 3.]\n'
    assert sorted(call.label for call in trace.calls(kind='python')) == [
        f'step/{name}[{index}]' for name in ('clip', 'part') for index in range(3)]


def test_conditions_and_lines(tmp_path: Path) -> None:
    done, _ = record(tmp_path, STEPS, '--break', 'program.py:6', '--ui', 'prompt', typed='p low\nswap lambda *v: v\nq\n')
    assert 'STOPPED in clip at program.py:6' in done.stderr, done.stderr
    assert "*** 'step/clip' is part of a compiled program" in done.stderr
    (tmp_path / 'trace').rename(tmp_path / 'first')
    done, _ = record(tmp_path, STEPS, '--break', 'pure_callback if v[1] == 1 and float(limits[1]) == 1', '--ui', 'prompt',
                     typed='c\n')
    assert "STOPPED before call 1 of node 'step/clip'" in done.stderr, done.stderr
    assert 'limits[1]  float32 1.0' in done.stderr


def test_a_breakpoint_in_a_traced_function_has_its_variables(tmp_path: Path) -> None:
    done, trace = record(tmp_path, PROGRAMS / 'breakpoint.py', '--ui', 'prompt',
                         typed='w\nll\np h.tolist()\np scale\nu\np y.tolist()\nc\n')
    out = done.stderr
    assert '   4 def loss(w, x):\n' in out and out.count('   8     return h.sum() * scale\n') == 1, out    # not the file
    assert '   2 import jax' not in out
    assert "STOPPED in loss at breakpoint.py:7, node 'step/breakpoint'" in out, out
    assert '> 7 jax.debug.breakpoint()' in out and "names  ['a', 'b']" in out
    assert '> breakpoint.py:12 in step\n' in out and out.count('in <module>') == 1
    assert '\n[0.0, 0.9640' in out and '\n3.0\n' in out and '\n[2.0, 2.0, 2.0]' in out
    assert done.stdout == '5.89007\n'
    (call,) = trace.calls(kind='python')
    assert call.site.op_type == 'debug_breakpoint' and [tensor.name for tensor in call.inputs] == [
        'loss(w)', 'x', 'h', 'w', 'x', 'y (up 1)']      # w and x are arguments of the program, the w of loss is another


def test_what_is_assigned_in_a_copy_is_said_to_be_there_only(tmp_path: Path) -> None:
    done, _ = record(tmp_path, PROGRAMS / 'breakpoint.py', '--ui', 'prompt',
                     typed='y = 7\nimport math; math.pi\nu\nu\nu\nif True: 5\n\nu\nscale = 1\np scale\nc\n')
    out = done.stderr
    assert 'y is set in a copy of the frame; the program does not see it' in out, out
    assert '3.14159' in out and 'math is set in a copy' in out
    assert '\n5\n' in out and 'IndexError' not in out              # at the run, whose tensors have no colon
    assert 'in <module>' in out and 'scale is set' not in out           # the frame that asked for the run is live
    assert done.stdout == '5.89007\n'


def test_a_stop_at_a_run_shows_its_feeds(tmp_path: Path) -> None:
    done, _ = record(tmp_path, STEPS, '--ui', 'prompt', '--break', 'step', '--if', "kind == 'run'", typed='c\nc\nq\n')
    assert 'feeds\n  v  float32[3]  [0, 1, 2]' in done.stderr, done.stderr


def test_copies_of_frames_have_no_next_line(tmp_path: Path) -> None:
    """The function runs as compiled code: to stop at its end and show what the copy returns would be an invention."""
    done, _ = record(tmp_path, PROGRAMS / 'breakpoint.py', '--ui', 'prompt', typed='n\ns\nr\nuntil 8\nj 8\nu\nn\nc\n')
    out = done.stderr
    assert out.count('these frames are copies') == 6, out
    assert out.count('STOPPED') == 1 and 'returning' not in out
    assert 'u, d the frames \u00b7 node to the next call \u00b7 c continue' in out and 'n next line' not in out
    assert 'debug_breakpoint  breakpoint.py:7\n' in out and done.stdout == '5.89007\n'       # its row in the report


DEVICES = """
import os
os.environ['XLA_FLAGS'] = '--xla_force_host_platform_device_count=2'
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, PartitionSpec as P
import pyfuncdbg
def part(v):
    {line}
    return np.asarray(v)
def each(v):
    return jax.lax.psum(jax.pure_callback(part, jax.ShapeDtypeStruct(v.shape, v.dtype), v), 'i')
mesh = Mesh(np.array(jax.devices()), ('i',))
total = jax.jit(jax.shard_map(each, mesh=mesh, in_specs=P('i'), out_specs=P()))
print(total(jnp.arange(2.)), os.environ['XLA_FLAGS'])
"""


@pytest.mark.parametrize(('line', 'options', 'warns'), [('pass', ('--break', 'part'), False), ('breakpoint()', (), True)])
def test_the_limit_of_collectives_is_lifted_or_said(tmp_path: Path, line: str, options: tuple[str, ...],
                                                    warns: bool) -> None:
    """A debugger that is there before the backend lifts the limit; the program sees the flags that it has set."""
    done, _ = record(tmp_path, DEVICES.format(line=line), *options, '--ui', 'prompt', typed='threads\nq\n')
    assert done.stdout == '[1.] --xla_force_host_platform_device_count=2\n', done.stderr
    seconds = 60 if RELEASE >= (0, 8) else 15
    assert (f'XLA ends the process after {seconds} s' in done.stderr) is (warns or RELEASE < (0, 8))
    assert '2 threads at a stop' in done.stderr or '1 thread at a stop' in done.stderr


WAITING = """
import os
os.environ['XLA_FLAGS'] = '--xla_force_host_platform_device_count=2 ' + os.environ['MORE_FLAGS']
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, PartitionSpec as P
import pyfuncdbg
from pyfuncdbg.hosts.jax.runs import collective_limit
collective_limit._LONG = int(os.environ['LIFTED'] or collective_limit._LONG)
def part(v):
    if v[0] == 0 and os.environ.get('RAISES'): raise ValueError('of one device')
    return np.asarray(v) + 1
def each(v):
    return jax.lax.psum(jax.pure_callback(part, jax.ShapeDtypeStruct(v.shape, v.dtype), v), 'i')
mesh = Mesh(np.array(jax.devices()), ('i',))
total = jax.jit(jax.shard_map(each, mesh=mesh, in_specs=P('i'), out_specs=P()))
print(total(jnp.arange(2.)))
"""
WARNS_SOON = '--xla_cpu_collective_call_warn_stuck_timeout_seconds=1'
TERMINATES_SOON = f'{WARNS_SOON} --xla_cpu_collective_call_terminate_timeout_seconds=3'


@pytest.mark.skipif((0, 0) < RELEASE < (0, 8), reason='XLA of JAX before 0.8 does not know the flag')
@pytest.mark.parametrize(('flags', 'lifted', 'says', 'ends'), [
    (TERMINATES_SOON, '', 'XLA ends the process after 4 s', True),      # the program's own limits stay, and are said
    (WARNS_SOON, '3', '', True),                # the flag that we set is the one that XLA obeys
    (WARNS_SOON, '', '', False)])
def test_a_stop_longer_than_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: str, lifted: str, says: str,
                                      ends: bool) -> None:
    """One device is at a stop for eight seconds, and the other one waits for it in a collective."""
    monkeypatch.setenv('MORE_FLAGS', flags)
    monkeypatch.setenv('LIFTED', lifted)
    done, _ = record(tmp_path, WAITING, '--break', 'part if v[0] == 0', '--ui', 'prompt',
                        typed="p __import__('time').sleep(8)\np 'still ' + 'here'\nc\n")
    assert 'STOPPED before call' in done.stderr or 'STOPPED entering part' in done.stderr, done.stderr
    card, typed, rest = done.stderr.partition('(pfd) p __import__')
    assert (says in card if says else 'XLA ends the process' not in card) and typed
    assert 'This thread has been waiting for `all reduce' in done.stderr
    assert (done.returncode != 0 and 'Termination timeout' in rest and "'still here'" not in rest) is ends
    assert ("'still here'" in rest and done.stdout == '[3.]\n') is not ends


@pytest.mark.skipif((0, 0) < RELEASE < (0, 8), reason='XLA of JAX before 0.8 does not know the flag')
def test_a_program_that_hangs_in_a_collective_is_told_and_ends_with_the_limit(tmp_path: Path,
                                                                              monkeypatch: pytest.MonkeyPatch) -> None:
    """The exception of one device leaves the others in the collective: XLA ends such a program, with and without us."""
    for name, value in {'MORE_FLAGS': WARNS_SOON, 'LIFTED': '3', 'RAISES': '1'}.items():
        monkeypatch.setenv(name, value)
    done, _ = record(tmp_path, WAITING, '--catch', '--ui', 'prompt', typed='c\n')
    said = ' '.join(done.stderr.split())
    assert 'each/part has raised on one of 2 devices: if the others wait for it in a collective' in said, done.stderr
    assert 'Without stops XLA ends it after 41 s' in said and 'Termination timeout' in said
    assert done.returncode == -6 and done.stdout == ''
