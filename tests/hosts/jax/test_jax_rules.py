"""Functions under `custom_vjp` and `custom_jvp` and their rules as calls: with values in eager code, else one a trace."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hosts.jax.jax_program import PROGRAMS, RELEASE, record, run
from seen_calls import Seen

import pyfuncdbg
from pyfuncdbg.hooks.chain import hooks

pytestmark = [pytest.mark.jax, pytest.mark.timeout(300)]

RAISES = """
import traceback, jax, jax.numpy as jnp
@jax.custom_vjp
def clip(x):
    return x
def clip_fwd(x):
    return clip(x), x
def clip_bwd(x, g):
    raise ArithmeticError('three')
clip.defvjp(clip_fwd, clip_bwd)
for transformed in (jax.grad(clip), jax.jit(jax.grad(clip)), jax.jit(jax.grad(lambda x: clip(x) + 1))):
    try:
        transformed(jnp.ones(()))
    except (ArithmeticError, ValueError) as error:
        print(''.join(traceback.format_exception(error)))
@jax.custom_vjp
def wrong(x):
    return x
wrong.defvjp(lambda x: (x, None), lambda res, g: (g, g))
try:
    jax.grad(wrong)(1.)
except TypeError as error:
    print(error)
"""


def test_each_trace_is_a_call_and_eager_calls_have_values(tmp_path: Path) -> None:
    plain = run(tmp_path, str(PROGRAMS / 'rules.py'))
    done, trace = record(tmp_path, PROGRAMS / 'rules.py')
    assert done.stdout == plain.stdout and plain.stdout.count('[ 0.,  3., 12.]') == 3, done.stderr
    calls = list(trace.calls(kind='python'))
    functions = ['cube', 'clip', *['cube_jvp', 'cube', 'clip_fwd', 'clip', 'clip_bwd'] * 3]
    assert [call.site.function for call in calls] == functions
    assert {(call.site.function, call.site.op_type) for call in calls} == {
        ('cube', 'custom_jvp'), ('cube_jvp', 'custom_jvp_rule'), ('clip', 'custom_vjp'), ('clip_fwd', 'custom_vjp_fwd'),
        ('clip_bwd', 'custom_vjp_bwd')}
    backward = [call for call in calls if call.site.function == 'clip_bwd']
    assert [[tensor.name for tensor in call.inputs] for call in backward] == [['res[0]', "res[1]['scale']", 'g']] * 3
    eager, traced, not_jitted = backward
    for call in (eager, not_jitted):
        assert [tensor.to_numpy().tolist() for tensor in (*call.inputs, *call.outputs)] == [
            [0, 1, 8], 2, [1, 1, 1], [1, 1, 1], 9]
    assert [(tensor.dtype, tensor.shape, tensor.note) for tensor in (*traced.inputs, *traced.outputs)] == [
        ('float32', shape, 'not known: a tracer, which has no value') for shape in ((3,), (), (3,), (3,), ())]
    assert [call.site.stack[-1].line for call in backward] == [24, 27, 29]
    assert calls[0].site.name == 'custom_jvp/cube' and backward[0].site.name == 'custom_vjp/clip_bwd'


def test_a_breakpoint_stops_at_trace_time_with_the_tracers(tmp_path: Path) -> None:
    done, _ = record(tmp_path, PROGRAMS / 'rules.py', '--break', 'clip_bwd', '--ui', 'prompt',
                     typed='p g.tolist()\nc\nn\nn\np g\nc\nc\n')
    assert done.stderr.count('STOPPED entering clip_bwd at rules.py:8') == 3, done.stderr
    assert '\n[1.0, 1.0, 1.0]\n' in done.stderr
    tracer = 'JitTracer(float32[3])' if RELEASE >= (0, 8) else 'Traced<float32[3]>with<DynamicJaxprTrace>'
    assert f'\n{tracer}' in done.stderr and 'STOPPED in clip_bwd at rules.py:10' in done.stderr


def test_tracebacks_and_mistakes_look_as_without_us(tmp_path: Path) -> None:
    (tmp_path / 'program.py').write_text(RAISES)
    plain = run(tmp_path, 'program.py').stdout
    done, trace = record(tmp_path, tmp_path / 'program.py')
    ours, theirs = (text.replace(str(tmp_path) + '/', '') for text in (done.stdout, plain))
    assert theirs.count("ArithmeticError: three") in (5, 6) and ours == theirs       # JAX 0.8 says it once more
    assert len([call for call in trace.calls(kind='python') if call.error is not None]) == 3


def test_they_are_as_before_after_detaching(jax: Any) -> None:
    """A program that was compiled while attached computes the same afterwards, and makes no calls."""
    double = jax.custom_vjp(lambda v: v * 2)
    double.defvjp(lambda v: (double(v), None), lambda _, g: (g * 2,))
    before = type(double).__call__
    hook = Seen()
    step = jax.jit(lambda v: double(v))
    with pyfuncdbg.attach('jax'):
        assert type(double).__call__ is before          # nothing watches
        hooks.add(hook)
        kinds = type(double).__call__
        hook.around = lambda call, proceed: hook.calls.append(call) or proceed()  # type: ignore[method-assign]
        assert float(step(3.)) == 6 and float(jax.grad(double)(3.)) == 2
    assert kinds is not before and type(double).__call__ is before
    names = [call.site.name for call in hook.calls]
    assert names == ['custom_vjp/lambda', 'custom_vjp/lambda_fwd', 'custom_vjp/lambda_1', 'custom_vjp/lambda_bwd']
    assert float(jax.grad(step)(3.)) == 2 and float(jax.grad(double)(4.)) == 2
    hooks.remove(hook)
    assert len(hook.calls) == 4


def test_outputs_that_a_hook_gives_stand(jax: Any, seen: Seen) -> None:
    half = jax.custom_vjp(lambda v: {'half': v / 2})
    half.defvjp(lambda v: (half(v), v), lambda v, g: (g['half'] / 2,))
    seen.change = lambda call, proceed: [proceed()[0] + 1]
    assert {key: float(value) for key, value in half(jax.numpy.float32(3)).items()} == {'half': 2.5}
    assert np.asarray(seen.inputs[0][0]) == 3


CHECKED = """
import jax, jax.numpy as jnp
@jax.custom_vjp
def square(x):
    return x ** 2
square.defvjp(lambda x: (square(x), x), lambda x, g: (g * x,))
@jax.custom_vjp
def scaled(x, scale):
    return {'out': x * scale['by']}, x
scaled.defvjp(lambda x, scale: (scaled(x, scale), (x, scale)),
              lambda res, g: (g[0]['out'] * res[1]['by'] + g[1], {'by': (g[0]['out'] * res[0]).sum()}))
def loss(x):
    out, same = scaled(x, {'by': jnp.float32(3)})
    return (square(square(out['out'])) * same).sum()
print(jax.grad(loss)(jnp.arange(1., 4)))
jax.jit(jax.grad(loss))(jnp.arange(1., 4))
print('end')
"""


def test_check_finds_a_wrong_rule(tmp_path: Path) -> None:
    """In eager code each backward rule makes a backward step, whose forward call is known; a traced one makes none."""
    done, trace = record(tmp_path, CHECKED, '--break', 'program.py:17', '--ui', 'prompt', typed='check\nc\n')
    assert "gradients: 2 BAD, 2 OK" in done.stderr and '(0.5 times)' in done.stderr, done.stderr
    steps = list(trace.calls(kind='gradient'))
    assert [step.site.attrs['forward'] for step in steps] == ['custom_vjp/square_fwd', 'custom_vjp/square_fwd',
                                                              'custom_vjp/scaled_fwd']
    assert [tensor.to_numpy().tolist() for tensor in steps[-1].inputs] == [[27, 432, 2187], [81, 1296, 6561]]
    numbers = {call.number: call.site.name for call in trace.calls(kind='python')}
    assert [numbers[step.forward] for step in steps] == [step.site.attrs['forward'] for step in steps]
    assert int(steps[0].forward) > int(steps[1].forward) > int(steps[2].forward)     # the last one first


TRACED = CHECKED.replace('print(jax.grad(loss)', 'print(jax.jit(jax.grad(loss))')


def test_check_says_how_traced_rules_get_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that differentiates compiled code alone has no steps to check; the command that is named makes them."""
    done, _ = record(tmp_path, TRACED, '--break', 'program.py:17', '--ui', 'prompt', typed='check\nc\n')
    wanted = ('custom_vjp/scaled_fwd was called while jax compiled it, without values. Run the program eagerly, stop after '
              f'the gradients and type: JAX_DISABLE_JIT=1 pyfuncdbg run --break SPEC {tmp_path}/program.py, then ')
    assert wanted in ' '.join(done.stderr.split()), done.stderr
    monkeypatch.setenv('JAX_DISABLE_JIT', '1')
    (tmp_path / 'trace').rename(tmp_path / 'first')
    done, _ = record(tmp_path, TRACED, '--break', 'program.py:17', '--ui', 'prompt', typed='check\nc\n')
    assert ' BAD, ' in done.stderr and '(0.5 times)' in done.stderr, done.stderr
