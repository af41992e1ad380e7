"""Functions under `custom_vjp` and `custom_jvp` and their rules as calls: with values in eager code, else one a trace."""
from __future__ import annotations

import json
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


def test_check_of_traced_rules_takes_values_that_are_made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that differentiates compiled code alone has no backward steps; the command that is named makes them."""
    done, _ = record(tmp_path, TRACED, '--break', 'program.py:17', '--ui', 'prompt', typed='check\ncheck --json\nc\n')
    shown = ' '.join(done.stderr.split())
    assert '2 rules filter: none gradients: 1 BAD, 2 OK' in shown and '(0.5 times)' in shown, done.stderr
    assert 'Rules were checked on: normal random numbers. jax called the rules when it compiled the program' in shown
    assert f'JAX_DISABLE_JIT=1 pyfuncdbg run --break SPEC {tmp_path}/program.py, a stop after the gradients' in shown
    edges = json.loads(done.stderr[done.stderr.index('{'):done.stderr.rindex('}') + 1])['edges']
    keys = 'name', 'function', 'place', 'tensor'
    assert [(*[edge[key] for key in keys], edge['outcome']['verdict']) for edge in edges] == [
        ('custom_vjp/scaled', '<lambda>', 'program.py:11', 'x', 'OK'),
        ('custom_vjp/scaled', '<lambda>', 'program.py:11', "scale['by']", 'OK'),
        ('custom_vjp/square', '<lambda>', 'program.py:6', 'x', 'BAD')]
    finished = run(tmp_path, '-m', 'pyfuncdbg', 'show', 'trace', 'check')
    assert 'custom_vjp/scaled_fwd was called while jax compiled it, without values' in ' '.join(finished.stderr.split())
    monkeypatch.setenv('JAX_DISABLE_JIT', '1')
    (tmp_path / 'trace').rename(tmp_path / 'first')
    done, _ = record(tmp_path, TRACED, '--break', 'program.py:17', '--ui', 'prompt', typed='check\nc\n')
    assert ' BAD, ' in done.stderr and '(0.5 times)' in done.stderr and 'Rules were' not in done.stderr, done.stderr


STOPPED = """
import functools, jax, jax.numpy as jnp, numpy as np
@jax.jit
def inner(x):
    print('inner is traced')
    return 1 / x
@jax.custom_vjp
def logarithm(x):
    return jnp.log(x)
logarithm.defvjp(lambda x: (logarithm(x), x), lambda x, g: (g * inner(x),))
@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 2))
def applied(f, x, n):
    return f(x) * n
def applied_bwd(f, n, x, g):
    return (g * jax.vjp(f, x)[1](jnp.ones_like(x))[0],)
applied.defvjp(lambda f, x, n: (f(x) * n, x), applied_bwd)
@jax.custom_jvp
def picked(x, index, key):
    return x[index] ** 2 + jax.random.uniform(key)
@picked.defjvp
def picked_jvp(primals, tangents):
    x, index, key = primals
    return picked(*primals), 2 * x[index] * tangents[0][index]
@jax.custom_vjp
def shifted(x):
    return x + 1
shifted.defvjp(lambda x: (x + 2, None), lambda _, g: (g,))
def seen(x):
    return np.asarray(x)
def loss(x, index, key):
    @jax.custom_vjp
    def closing(v):
        return v * index
    closing.defvjp(lambda v: (v * index, None), lambda _, g: (g * index,))
    x = jax.pure_callback(seen, jax.ShapeDtypeStruct((8,), 'f'), jax.lax.stop_gradient(x)) + x
    parts = logarithm(x), applied(jnp.sin, x, 2), closing(x), picked(x, index, key), shifted(x)
    return sum(part.sum() for part in parts)
step = jax.jit(jax.grad(loss))
for _ in range(2):
    print(step(jnp.arange(1., 9), 1, jax.random.key(0)))
"""


def test_check_at_a_stop_in_traced_code_and_in_a_callback_changes_nothing(tmp_path: Path) -> None:
    """What is traced gets no op of it, a function that is traced later is traced then, and no call is recorded."""
    plain = run(tmp_path, '-c', STOPPED)
    done, trace = record(tmp_path, STOPPED, '-q')
    (tmp_path / 'trace').rename(tmp_path / 'first')
    checked, again = record(tmp_path, STOPPED, '-q', '--ui', 'prompt', '--break', 'picked_jvp', '--break', 'applied_bwd',
                            '--break', 'seen', typed='check\nc\ncheck\nc\ncheck\ncheck --call 1\nc\nc\n')
    assert checked.stdout == done.stdout == plain.stdout and plain.stdout.count('inner is traced') == 1, checked.stderr
    assert [(call.number, call.label) for call in again.calls()] == [(call.number, call.label) for call in trace.calls()]
    answers = [' '.join(text.split()) for text in checked.stderr.split('(pfd) ')]
    assert len(answers) == 9
    assert '4 rules' in answers[1] and '1 BAD, 2 OK, 1 unchecked' in answers[1], checked.stderr
    assert '(0.5 times)' in answers[1]
    assert 'normal random numbers, random numbers from 0.1 to 0.9. jax' in answers[1] or (     # the logarithm's
        'random numbers from 0.1 to 0.9, normal random numbers. jax' in answers[1])
    assert 'function that is none of its arguments' in answers[1] and 'is traced' not in checked.stderr
    for answer in answers[3], answers[5]:
        assert '5 rules' in answer and '2 BAD, 2 OK, 1 unchecked' in answer, checked.stderr
        assert 'another output 0 than the function: at [' in answer
    assert '1 rule filter: call 1' in answers[6] and 'custom_vjp/logarithm' in answers[6]


def test_check_of_a_traced_rule_takes_inputs_of_an_eager_call(tmp_path: Path) -> None:
    program = CHECKED.replace('print(jax.grad(loss)', 'print(loss')
    done, _ = record(tmp_path, program, '--break', 'program.py:17', '--ui', 'prompt', typed='check\nc\n')
    shown = ' '.join(done.stderr.split())
    assert '2 rules' in shown and 'Rules were checked on: the inputs of #' in shown and 'random' not in shown, done.stderr
    assert '(0.5 times)' in shown
