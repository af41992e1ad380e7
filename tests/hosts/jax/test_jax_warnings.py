"""Warnings and log lines of functions that JAX calls name the line, and are shown as often, as without us."""
from __future__ import annotations

from pathlib import Path

import pytest
from hosts.jax.jax_program import run

pytestmark = pytest.mark.jax

PROGRAM = '''
import logging, sys, warnings
import jax, jax.numpy as jnp, numpy as np
jax.config.update('jax_cpu_enable_async_dispatch', False)
logging.basicConfig(format='%(pathname)s:%(lineno)d: %(message)s')
S = jax.ShapeDtypeStruct((2,), jnp.float32)
def tell(who):
    for level in range(2, min(depth(), int(sys.argv[1])) + 1):
        warnings.warn(f'{who} {level}', stacklevel=level)
        logging.warning(f'{who} {level}', stacklevel=level)
def depth():
    """Number of frames from `tell` to the program's first, without ours: further out are those that run the program."""
    frame, count = sys._getframe(1), 0
    while frame is not None:
        count += 'pyfuncdbg' not in frame.f_code.co_filename
        if frame.f_code.co_name == '<module>' and frame.f_code.co_filename == __file__:
            break
        frame = frame.f_back
    return count
def pure(v):
    tell('pure_callback')
    return np.asarray(v)
def impure(v):
    tell('io_callback')
    return np.asarray(v)
def debug(v):
    tell('debug.callback')
def call_all(v):
    v = jax.pure_callback(pure, S, v, vmap_method='sequential')
    jax.debug.callback(debug, v)
    return jax.experimental.io_callback(impure, S, v)
def call_pure(v):
    tell('traced')
    return jax.pure_callback(pure, S, v, vmap_method='sequential') + v
def looped(v):
    def body(carry, _):
        jax.debug.callback(debug, carry)
        return carry * 2, ()
    return jax.lax.scan(body, v, None, length=2)[0]
@jax.custom_vjp
def twice(v):
    tell('custom_vjp')
    return v * 2
def forward(v):
    tell('forward')
    return v * 2, None
def backward(_, g):
    tell('backward')
    return g * 2,
twice.defvjp(forward, backward)
@jax.custom_jvp
def thrice(v):
    tell('custom_jvp')
    return v * 3
@thrice.defjvp
def rule(values, tangents):
    tell('rule')
    return values[0] * 3, tangents[0] * 3
step, step_of_all, step_of_loop = jax.jit(call_pure), jax.jit(call_all), jax.jit(looped)
batched = jax.jit(jax.vmap(call_pure))
def total(v): return (twice(v) + thrice(v)).sum()
slope = jax.jit(jax.grad(total))
def eagerly(v): call_all(v)
def compiled(v): step(v), step(v), jax.block_until_ready(step_of_all(v)), jax.block_until_ready(step_of_all(v))
def loops(v): jax.block_until_ready(step_of_loop(v))
def batches(v): jax.block_until_ready(batched(jnp.stack([v, v])))
def rules(v): twice(v), thrice(v), total(v), jax.grad(total)(v)
def compiled_rules(v): slope(v), slope(v)
def third(case):
    case(jnp.ones(2))
    jax.effects_barrier()
def second(case):
    third(case)
def first(case):
    second(case)
for case in eagerly, compiled, loops, batches, rules, compiled_rules:
    first(case)
'''
NOT_HIT = 'pyfuncdbg: breakpoint '


def test_a_level_of_the_stack_is_the_frame_that_it_is_in_the_plain_program(tmp_path: Path) -> None:
    program = tmp_path / 'program.py'
    program.write_text(PROGRAM)
    never = [word for name, of in (('tell', 'who'), ('pure', 'v'), ('debug', 'v'))
             for word in ('--break', name, '--if', f'{of} is None')]
    # A program whose ops are observed is dispatched by Python code of JAX: more frames of its own than in the plain program.
    for levels, ways in ('19', [(), ('--every', '2', *never)]), ('6', [('--ops',)]):
        plain = run(tmp_path, 'program.py', levels)
        assert plain.returncode == 0, plain.stderr
        for told in ('pure_callback', 'io_callback', 'debug.callback', 'custom_vjp', 'backward', 'rule', 'traced'):
            assert f'UserWarning: {told} ' in plain.stderr
        for options in ways:
            done = run(tmp_path, '-m', 'pyfuncdbg', 'run', '-q', *options, 'program.py', levels)
            lines = [line for line in done.stderr.splitlines() if not line.startswith(NOT_HIT)]
            assert (lines, done.returncode) == (plain.stderr.splitlines(), 0), options
