"""What attaching to the real JAX costs: `python tests/benchmarks/bench_jax.py`, where JAX is installed.

Each way of calling a Python function, against itself without us: attached with nobody watching, with a breakpoint elsewhere,
and recorded. Words of the names of ways are arguments.
"""
from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

os.environ.setdefault('JAX_PLATFORMS', 'cpu')

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback
from timing import Result, Work, table

import pyfuncdbg
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.record.recorder import Recorder

SERIES, ROUNDS, LOOP, GRADIENT_OPS = 60, 40, 200, 9
"""Calls after which the next state has its turn, how many turns each has, calls within one compiled loop, and ops of an
eager gradient."""


def add(value: Any) -> Any:
    return np.asarray(value) + np.float32(1)


def like(value: Any) -> Any:
    return jax.ShapeDtypeStruct(value.shape, value.dtype)


def ways() -> Iterator[tuple[str, Work, int, int]]:
    """Name, one piece of work, how many pieces make a series, and how many calls a piece is."""
    scalar, image = jnp.float32(1), jnp.ones((64, 64))
    for name, value in (('scalar', scalar), ('64x64', image)):
        pure = jax.jit(lambda v: jax.pure_callback(add, like(v), v))
        yield f'jit, pure_callback, {name}', lambda pure=pure, value=value: pure(value), SERIES, 1
        impure = jax.jit(lambda v: io_callback(add, like(v), v))
        yield f'jit, io_callback, {name}', lambda impure=impure, value=value: impure(value), SERIES, 1
    loop = jax.jit(lambda v: jax.lax.fori_loop(0, LOOP, lambda _, c: jax.pure_callback(add, like(c), c), v))
    yield f'fori_loop of {LOOP} pure_callbacks, scalar', lambda: loop(scalar).block_until_ready(), 1, LOOP
    yield 'eager pure_callback, scalar', lambda: jax.pure_callback(add, like(scalar), scalar), SERIES, 1
    step = jax.jit(lambda v: jnp.tanh(v @ v))
    yield 'jit without callbacks', lambda: step(image), SERIES, 1
    yield 'eager op', lambda: scalar + scalar, SERIES, 1
    yield f'eager jax.grad, {GRADIENT_OPS} ops', lambda: jax.grad(lambda v: jnp.sum(jnp.sin(v) * v))(image), 12, GRADIENT_OPS


@contextmanager
def breakpoint_elsewhere() -> Iterator[None]:
    with pyfuncdbg.attach('jax'):
        entry = debugger.breakpoints.set('nowhere')
        debugger.start()
        try:
            yield
        finally:
            debugger.breakpoints.clear(entry.number)
            debugger.leave()


def recorded(folder: Path, ops: bool = False) -> Callable[[], AbstractContextManager[Any]]:
    numbers = iter(range(1_000_000))

    @contextmanager
    def state() -> Iterator[None]:
        with pyfuncdbg.attach('jax'), Recorder(folder / f'{next(numbers)}.pfd', budget=2 << 30, ops=ops):
            yield
    return state


def best(work: Work, states: dict[str, Callable[[], AbstractContextManager[Any]]], count: int) -> dict[str, float]:
    """Microseconds of one piece of work in each state: the lower quartile of the medians of many short series, in turn."""
    medians: dict[str, list[float]] = {name: [] for name in states}
    for _ in range(ROUNDS):
        for name, state in states.items():
            with state():
                for _ in range(3):
                    work()
                times = []
                for _ in range(count):
                    start = time.perf_counter_ns()
                    work()
                    times.append(time.perf_counter_ns() - start)
                medians[name].append(sorted(times)[count // 2] / 1e3)
    return {name: sorted(values)[len(values) // 4] for name, values in medians.items()}


TARGETS = {'attached': '<= 0.3 µs more', 'breakpoint elsewhere': '<= 3 µs more', 'recorded': '<= 25 µs more',
           'recorded with ops': 'no limit'}


def results(folder: Path, wanted: list[str]) -> Iterator[Result]:
    states = {'plain': nullcontext, 'attached': lambda: pyfuncdbg.attach('jax'),
              'breakpoint elsewhere': breakpoint_elsewhere, 'recorded': recorded(folder)}
    with_ops = states | {'recorded with ops': recorded(folder, ops=True)}
    for name, work, count, calls in ways():
        if wanted and not any(word in name for word in wanted):
            continue
        found = best(work, with_ops if name.startswith('eager') else states, count)
        peer = found['plain'] / calls
        for what, target in TARGETS.items():
            if what not in found:
                continue
            ours = found[what] / calls
            yield Result(f'{name}: {what}', ours, peer, target, f'{ours / peer:.2f}x the time, {ours - peer:+.2f} µs')


if __name__ == '__main__':
    with tempfile.TemporaryDirectory() as folder:
        print(table(list(results(Path(folder), sys.argv[1:]))))
