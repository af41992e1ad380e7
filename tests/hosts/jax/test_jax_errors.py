"""Exceptions of callbacks: their text as without us, their cause at every place where one surfaces, and aborts."""
from __future__ import annotations

import re
from pathlib import Path

import pytest
from hosts.jax.jax_program import ERROR, PROGRAMS, RELEASE, record, run

from pyfuncdbg.hosts.jax.callbacks.callback_errors import text_without_own_frames

LATE = ['late', 'again', 'block', 'use'] if RELEASE >= (0, 8) else ['at once']
PLACES = ['fast', 'slow', *LATE, 'vmap', 'debug', 'eager', 'fast again']
FAST = "<class 'ValueError'>" if RELEASE >= (0, 8) else f"<class 'jaxlib._jax.{ERROR}'>"


@pytest.mark.jax
@pytest.mark.timeout(300)
def test_an_error_has_its_cause_wherever_it_surfaces_and_nothing_else_differs(tmp_path: Path) -> None:
    plain = run(tmp_path, str(PROGRAMS / 'surfacing.py')).stdout
    done, trace = record(tmp_path, PROGRAMS / 'surfacing.py')
    assert plain.count('CAUSE None') == len(PLACES) and f'fast {FAST}' in plain, plain
    assert re.sub(r"CAUSE (ArithmeticError\('three'\)|KeyError\('noted'\))", 'CAUSE None', done.stdout) == plain, done.stderr
    assert 'CAUSE None' not in done.stdout
    assert re.findall(r'^(\w[\w ]*?) <class', done.stdout, re.MULTILINE) == PLACES
    failed = [call for call in trace.calls(kind='python') if call.error is not None]
    assert {call.error.type for call in failed if call.error} == {'ArithmeticError', 'KeyError'} and len(failed) == 7


@pytest.mark.jax
@pytest.mark.timeout(300)
def test_an_abort_ends_the_run_and_later_ones_go_on(tmp_path: Path) -> None:
    done, _ = record(tmp_path, PROGRAMS / 'aborting.py', '--break', 'half', '--ui', 'prompt', typed='abort\n' * 5 + 'c\n')
    assert done.returncode == 0, done.stderr
    ends = [line for line in done.stdout.splitlines() if line.startswith(('<class', 'value', 'end'))]
    aborts = [f"<class 'pyfuncdbg.errors.RunAborted'> 'aborted at stop {number}'" for number in range(1, 6)]
    assert ends == [*aborts, 'end 6.0']


def test_the_text_of_an_error_has_no_frame_of_ours() -> None:
    from pyfuncdbg.hooks import chain
    text = ('INTERNAL: callback error: Traceback (most recent call last):\n  File "/p/program.py", line 3, in <module>\n'
            f'  File "{chain.__file__}", line 9, in invoke\n  File "/p/program.py", line 2, in half\nValueError: no')
    assert text_without_own_frames(text) == (
        'INTERNAL: callback error: Traceback (most recent call last):\n  File "/p/program.py", line 3, in <module>\n'
        '  File "/p/program.py", line 2, in half\nValueError: no')


@pytest.mark.jax
@pytest.mark.timeout(300)
def test_tracebacks_are_the_same_but_for_the_cause(tmp_path: Path) -> None:
    """Of callbacks, traced functions, lowering, eager calls and transformations: no frame of ours is in any."""
    plain = run(tmp_path, str(PROGRAMS / 'tracebacks.py')).stdout
    names = re.findall(r'^[a-z][a-z ]+$', plain, re.MULTILINE)
    assert plain.count('Traceback') > 12 and len(names) == 13
    for options in (), ('--ops',):
        command = '-m', 'pyfuncdbg', 'run', '--record', f'trace{len(options)}', *options
        done = run(tmp_path, *command, str(PROGRAMS / 'tracebacks.py'))
        assert 'direct cause' in done.stdout, done.stderr
        assert 'pyfuncdbg/hosts/' not in done.stdout and 'pyfuncdbg/hooks/' not in done.stdout
        assert re.findall(r'^[a-z][a-z ]+$', done.stdout, re.MULTILINE) == names, options
        assert [line for line in plain.splitlines() if line not in done.stdout.splitlines()] == [], options


LATE_PLACES = ['block', 'block all', 'asarray', 'float', 'item', 'device_get', 'print', 'bool', 'use']


@pytest.mark.jax
@pytest.mark.timeout(300)
def test_errors_that_come_to_light_later_have_their_cause(tmp_path: Path) -> None:
    """Where a value is read, at a barrier of effects, and in the report where the program ends before."""
    plain = run(tmp_path, str(PROGRAMS / 'late_errors.py'))
    done, trace = record(tmp_path, PROGRAMS / 'late_errors.py')
    lines = done.stdout.splitlines()
    assert lines[:9] == [f"{place} ArithmeticError('three')" for place in LATE_PLACES], done.stdout + done.stderr
    assert lines[9:] == ['noting has returned', "barrier KeyError('noted')", 'writing has returned',
                         "ordered barrier KeyError('noted')", 'end']
    assert re.sub(r"(ArithmeticError\('three'\)|KeyError\('noted'\))", 'None', done.stdout) == plain.stdout
    errors = [call.error.type for call in trace.calls(kind='python') if call.error is not None]
    assert errors == ['ArithmeticError'] * 9 + ['KeyError'] * 3
    assert "KeyError: 'noted'" in done.stderr and 'show trace call' in done.stderr


TEXTLESS = """
import logging
logging.getLogger('jax').setLevel(logging.CRITICAL)
import sys, time, jax, jax.numpy as jnp, numpy as np
class Textless(Exception):
    def __str__(self): raise ValueError('no text')
def half(v):
    if v == 3: raise Textless()
    return np.float32(v / 2)
S = jax.ShapeDtypeStruct((), jnp.float32)
@jax.custom_vjp
def rule(v): return v
def forward(v): raise Textless()
rule.defvjp(forward, lambda kept, g: (g,))
step = jax.jit(lambda v: jax.pure_callback(half, S, v))
print(float(step(4.)), flush=True)
try: jax.grad(rule)(1.)
except Textless as error: print('caught', type(error).__name__, error.__cause__, flush=True)
step(3.)
"""


@pytest.mark.jax
@pytest.mark.timeout(300)
def test_an_exception_whose_text_cannot_be_had(tmp_path: Path) -> None:
    """In a compiled program JAX itself ends the process then; the call that raised is in the trace too."""
    (tmp_path / 'plain.py').write_text(TEXTLESS)
    plain = run(tmp_path, 'plain.py')
    done, trace = record(tmp_path, TEXTLESS)
    assert done.stdout == plain.stdout == '2.0\ncaught Textless None\n', done.stderr
    assert done.returncode == plain.returncode == (-6 if RELEASE < (0, 11) else 1)
    calls = [(call.site.function, call.error.type if call.error else '') for call in trace.calls(kind='python')]
    assert calls == [('half', ''), ('forward', '__main__.Textless'), ('half', '__main__.Textless')]


AT_ONCE = """
import jax, jax.numpy as jnp
class Textless(Exception):
    def __str__(self): raise ValueError('no text')
def half(v): raise Textless()
jax.jit(lambda v: jax.pure_callback(half, v, v))(jnp.float32(3)).block_until_ready()
"""


@pytest.mark.jax
@pytest.mark.timeout(300)
def test_the_first_call_of_a_program_that_ends_with_it_is_in_the_trace(tmp_path: Path) -> None:
    """Nothing has been written when the process ends: neither the site nor the run."""
    done, trace = record(tmp_path, AT_ONCE)
    assert done.returncode == (-6 if RELEASE < (0, 11) else 1), done.stderr
    (call,) = trace.calls(kind='python')
    assert call.label == 'lambda/half[0]' and call.error is not None and call.error.type == '__main__.Textless'
    assert call.inputs[0].to_numpy() == 3
