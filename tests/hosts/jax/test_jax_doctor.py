"""`pyfuncdbg doctor` on a JAX program with a fault of each kind: the finding, at its line, with its figures."""
from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hosts.jax.jax_program import ERROR, PROGRAMS, RELEASE, run

import pyfuncdbg
from pyfuncdbg.hooks.diagnosis import Finding, Place, Spot
from pyfuncdbg.hosts import doctors
from pyfuncdbg.hosts.jax.doctor.compilations import Compilation, difference, static_arguments
from pyfuncdbg.hosts.jax.doctor.judges import find_large_copies
from pyfuncdbg.observers.debug.diagnosis.diagnose import diagnose

pytestmark = [pytest.mark.jax, pytest.mark.timeout(300)]

HEALTHY = """
import jax, jax.numpy as jnp, numpy as np
def half(v): return np.asarray(v) / 2
step = jax.jit(lambda v: jax.pure_callback(half, jax.ShapeDtypeStruct(v.shape, v.dtype), v))
for k in range(5):
    print(step(jnp.float32(k)))
"""


def line_of(text: str) -> int:
    source = (PROGRAMS / 'faulty.py').read_text()
    return source[:source.index(text)].count('\n') + 1


def test_each_fault_is_found_at_its_line(tmp_path: Path) -> None:
    program = PROGRAMS / 'faulty.py'
    plain = run(tmp_path, str(program))
    done = run(tmp_path, '-m', 'pyfuncdbg', 'doctor', '--record', 'it.pfd', str(program))
    kind = 'ValueError' if RELEASE >= (0, 8) else ERROR
    assert plain.stdout == f'{kind}\nend\n' and done.stdout.startswith(plain.stdout), done.stderr
    with pyfuncdbg.load(tmp_path / 'it.pfd') as trace:
        found: dict[str, Finding] = {}
        for finding in diagnose(trace, doctors()).findings:     # on a machine under load more calls block
            found.setdefault(finding.kind, finding)
    assert {kind: finding.place.line for kind, finding in found.items()} == {
        'dead': line_of('jax.pure_callback(note'), 'repeated': line_of('jax.jit(jax.value_and_grad(jax.checkpoint'),
        'blocking': line_of('blocked = jax.jit'),
        **({'error type': line_of("raise ValueError('too large')")} if kind != ERROR else {}),
        'retraced': line_of('@jax.jit\ndef total'),
        'copies': line_of('summed = jax.jit')}
    assert found['repeated'].figures == {'calls a run': 2}
    assert found['blocking'].figures['calls while dispatching'] == 4
    assert found['retraced'].what == 'total was compiled 5 times for 5 calls; last for values: float32[4], then float32[5]'
    assert found['copies'].figures == {'calls': 10, 'most in a call, bytes': 4 * 1024 * 1024 + 4}
    assert '40 MiB in 10 calls' in found['copies'].what
    assert kind == ERROR or re.search(r'comes to the program as ValueError', found['error type'].what)


def test_a_healthy_program_has_no_findings(tmp_path: Path) -> None:
    (tmp_path / 'healthy.py').write_text(HEALTHY)
    done = run(tmp_path, '-m', 'pyfuncdbg', 'doctor', '--record', 'it.pfd', 'healthy.py')
    with pyfuncdbg.load(tmp_path / 'it.pfd') as trace:
        assert diagnose(trace, doctors()).findings == (), done.stderr


REPEATED = """
import jax, jax.numpy as jnp, numpy as np
scalar = jax.ShapeDtypeStruct((), jnp.float32)
calls = []
def row(v): calls.append(1); return np.asarray(v)
@jax.custom_vjp
def again(v): return jax.pure_callback(row, scalar, v)
again.defvjp(lambda v: (again(v), v), lambda v, t: (t * v,))
inner = jax.jit(lambda v: jax.pure_callback(row, scalar, v))
def count(function):
    calls.clear()
    jax.block_until_ready(jax.jit(function)(jnp.float32(1)))
    print(function.__name__, len(calls))
def once(v): return jax.grad(jax.checkpoint(lambda v: jnp.sin(again(v))))(v)        # the first call is left out
def twice(v): return jax.value_and_grad(jax.checkpoint(lambda v: jnp.sin(again(v))))(v)
def scanned(v):
    body = jax.checkpoint(lambda c, x: (jnp.sin(again(c)) * x, None))
    return jax.grad(lambda v: jax.lax.scan(body, v, jnp.ones(3))[0])(v)
def chained(v): return inner(inner(inner(v)))                   # three calls, as the program says
def below(v):
    inner(v)                                                    # of no use
    return v + 1
def half(v):
    used, unused = jax.jit(lambda v: (jnp.sin(v), jax.pure_callback(row, scalar, v)))(v)
    return used
for function in once, twice, scanned, chained, below, half: count(function)
"""


def test_callbacks_are_dead_or_repeated_as_their_calls_tell(tmp_path: Path) -> None:
    (tmp_path / 'repeated.py').write_text(REPEATED)
    done = run(tmp_path, '-m', 'pyfuncdbg', 'doctor', '--record', 'it.pfd', 'repeated.py')
    assert done.stdout.split('\n')[:6] == ['once 1', 'twice 2', 'scanned 6', 'chained 3', 'below 0', 'half 0']
    with pyfuncdbg.load(tmp_path / 'it.pfd') as trace:
        found = diagnose(trace, doctors()).findings
    assert sorted((finding.kind, finding.what.partition(':')[0], finding.figures) for finding in found) == [
        ('dead', 'row is never called by below', {'compilations': 1}),
        ('dead', 'row is never called by half', {'compilations': 1}),
        ('repeated', 'row is called again in each run of scanned', {}),
        ('repeated', 'row is called again in each run of twice', {'calls a run': 2})]


RETRACED = """
import jax, jax.numpy as jnp
from functools import partial
@jax.jit
def layer(w, x): return x @ w
for step in range(5):                               # compiled once for each shape, and called often
    for n in range(4, 8): layer(jnp.ones((n, n)), jnp.ones((2, n)))
class Model:
    @partial(jax.jit, static_argnums=0)
    def call(self, v): return v * 2
    def plain(self, v): return v * 3
model = Model()
often = [jax.jit(partial(lambda k, v: v + k, 1)),
         jax.jit(jax.grad(lambda v: (v * v).sum())),
         model.call, jax.jit(model.plain),
         jax.vmap(jax.jit(lambda v: v * 4)),
         jax.jit(jax.vmap(lambda v: v * 5))]
for step in range(5):
    for n in range(4, 8):
        for function in often: function(jnp.ones(n))
@partial(jax.jit, static_argnames='n')
def power(v, n): return v ** n
for n in range(6): power(jnp.ones(3), n=n)
@partial(jax.jit, static_argnums=(1, -1))
def scaled(v, name, factor): return v * factor
for n in range(6): scaled(jnp.ones(3), 'a', float(n))
class Config: pass
@partial(jax.jit, static_argnums=1)
def configured(v, config): return v
for n in range(6): configured(jnp.ones(3), Config())
for n in range(6): jax.jit(lambda v: v + n)(jnp.ones(3))
@jax.jit
def nested(params): return params['w'].sum() + params['b'][0]
for n in range(6): nested({'w': jnp.ones(n + 1), 'b': [jnp.float32(1)]})
@jax.jit
def grown(values): return sum(values)
for n in range(1, 6): grown([jnp.float32(1)] * n)
"""


def test_what_changes_where_functions_are_compiled_for_every_few_calls(tmp_path: Path) -> None:
    (tmp_path / 'retraced.py').write_text(RETRACED)
    run(tmp_path, '-m', 'pyfuncdbg', 'doctor', '--record', 'it.pfd', 'retraced.py')
    with pyfuncdbg.load(tmp_path / 'it.pfd') as trace:
        found = [finding for finding in diagnose(trace, doctors()).findings if finding.kind == 'retraced']
    assert {finding.site: finding.what.partition('; last for ')[2] for finding in found} == {
        'power': 'the static argument n: 4, then 5', 'scaled': 'the static argument factor: 4.0, then 5.0',
        'configured': 'the static argument config: an object of class Config, then another one',
        '<lambda>': 'another function object: it is made anew',
        'nested': "params['w']: float32[5], then float32[6]",
        'grown': 'another number of arrays in its arguments: 4, then 5'}
    assert all(finding.figures['calls'] == finding.figures['compilations'] for finding in found)
    advice = next(finding.advice for finding in found if finding.site == '<lambda>')
    assert advice.startswith('jit it once, outside of the loop')


def test_a_number_of_python_and_an_array_differ() -> None:
    before = Compilation(['v'], ['float32[]'], [True], [], 1)
    assert difference(before, before._replace(python_numbers=[False])) == (
        'number', 'v: a number of Python, then an array of the same dtype')
    assert difference(before, before)[0] == 'unknown'
    assert difference(before, before._replace(function=2))[0] == 'function'
    assert difference(before, before._replace(function=0))[0] == 'unknown'


def test_static_arguments_are_shown_without_calling_the_program(tmp_path: Path) -> None:
    class Odd:
        def __repr__(self) -> str:
            raise AssertionError

        __eq__ = __hash__ = __repr__  # type: ignore[assignment]
    info = SimpleNamespace(static_argnums=(0, 5), static_argnames=('mode',))
    values = {'jit_info': info, 'fun': lambda config, v: v, 'args': (Odd(), 1), 'kwargs': {'mode': 'x' * 100}}
    config, mode = static_arguments(values) or ()
    assert (config.name, config.shown) == ('config', 'an object of class Odd')
    assert mode.shown == "'" + 'x' * 39 + '...'
    assert static_arguments({'jit_info': None}) is None         # of another version of JAX


@pytest.mark.parametrize(('tensor', 'calls', 'total'), [
    (('float32', (1 << 20,), 4 << 20), 8, '32 MiB in 8 calls'), (('float32', (1 << 20,), 4 << 20), 7, None),
    (('float32', (1 << 20,), 0), 8, '32 MiB in 8 calls'),           # not computed yet, so that its bytes are not recorded
    (('bfloat16', (1 << 20,), 0), 16, '32 MiB in 16 calls'), (('bool', (1 << 20,), 0), 32, '32 MiB in 32 calls'),
    (('float32', (100, 100), 40_000), 10_000, None)])               # many, and each is small
def test_copies_are_added_up(tensor: tuple[str, tuple[int, ...], int], calls: int, total: str | None) -> None:
    dtype, shape, nbytes = tensor
    value = SimpleNamespace(dtype=dtype, shape=shape, nbytes=nbytes)
    site = SimpleNamespace(name='f', op_type='pure_callback', host='jax')
    call = SimpleNamespace(inputs=(value,), outputs=())
    spot = Spot(Place('train.py', 3), [site], [call] * min(calls, 5), calls, 0, 1.0)  # type: ignore[list-item]
    evidence: Any = SimpleNamespace(spots=[spot])
    found = [finding.what.partition(', ')[2] for finding in find_large_copies(evidence)]
    assert found == ([total] if total else [])


def test_one_large_call_does_not_make_all_large() -> None:
    large, small = (SimpleNamespace(dtype='float32', shape=(), nbytes=nbytes) for nbytes in (16 << 20, 4))
    calls = [SimpleNamespace(inputs=(value,), outputs=()) for value in [large] + [small] * 99]
    site = SimpleNamespace(name='f', op_type='pure_callback', host='jax')
    evidence: Any = SimpleNamespace(spots=[Spot(Place('train.py', 3), [site], calls, 100, 0, 1.0)])  # type: ignore[list-item]
    assert list(find_large_copies(evidence)) == []


READS = """
import time
import jax, jax.numpy as jnp, numpy as np
kind = type(jnp.ones(1))
name = '_to_np_array_did_copy' if hasattr(kind, '_to_np_array_did_copy') else '_single_device_array_to_np_array_did_copy'
own_copy = getattr(kind, name)
def copied(array):                              # as of an array in the memory of a GPU
    time.sleep(.02 if array.size == 1 else 0)
    return np.array(own_copy(array)[0]), True
def on_gpu(array):
    setattr(kind, name, copied)
    return array
jax.block_until_ready(jnp.ones((1024, 1024)))
for k in range(12):
    total = on_gpu(jnp.full((1024, 1024), k)).__array__().sum()     # np.asarray on a GPU
    loss = float(jnp.float32(k) + 1)
    if k < 9:                                   # too seldom
        rare = jnp.full((1024, 1024), 2.).tolist()
setattr(kind, name, own_copy)
for k in range(12):
    total = np.asarray(jnp.full((1024, 1024), k)).sum() + jnp.full((1024, 1024), k).item(0)
print('end')
"""


def test_lines_that_copy_to_the_host_in_a_loop(tmp_path: Path) -> None:
    (tmp_path / 'reads.py').write_text(READS)
    done = run(tmp_path, '-m', 'pyfuncdbg', 'doctor', '--record', 'it.pfd', 'reads.py')
    with pyfuncdbg.load(tmp_path / 'it.pfd') as trace:
        found = {(finding.kind, finding.place.line): finding for finding in diagnose(trace, doctors()).findings}
    assert set(found) == {('host copies', 15), ('waits', 16)}, done.stdout + done.stderr
    figures = found['host copies', 15].figures
    assert (figures['reads'], figures['bytes']) == (12, 12 * 4 * 1024 * 1024)
    assert '48 MiB in 12 reads' in found['host copies', 15].what
    assert found['waits', 16].figures['reads'] == 12 and found['waits', 16].figures['seconds'] > .2
