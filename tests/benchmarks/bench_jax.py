"""What attaching to the real JAX costs, where it is installed.

Each way of calling a Python function, against itself without us: attached with nobody watching, with a breakpoint elsewhere,
and recorded.
"""
from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault('JAX_PLATFORMS', 'cpu')

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback
from measurement import Around, Row, Side, Target, Work, warm

import pyfuncdbg
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.record.recorder import Recorder

SERIES, LOOP, GRADIENT_OPS = 60, 200, 9
"""Calls after which the next state has its turn, calls within one compiled loop, and ops of an eager gradient."""


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


def recorded(folder: Path, ops: bool = False) -> Around:
    @contextmanager
    def state() -> Iterator[None]:
        with tempfile.TemporaryDirectory(dir=folder) as place, pyfuncdbg.attach('jax'), Recorder(
                Path(place) / 't.pfd', budget=2 << 30, ops=ops):
            yield
    return state


TARGETS = {'attached': Target('adds', 0.3), 'breakpoint elsewhere': Target('adds', 3), 'recorded': Target('adds', 25)}


def rows(folder: Path) -> Iterator[Row]:
    states: dict[str, Around] = {'attached': lambda: pyfuncdbg.attach('jax'),
                                 'breakpoint elsewhere': breakpoint_elsewhere, 'recorded': recorded(folder)}
    for name, work, series, calls in ways():
        of_way = states | ({'recorded with --ops': recorded(folder, ops=True)} if name.startswith('eager') else {})
        for state, around in of_way.items():
            yield Row(f'JAX: {name}, {state}', partial(sides, state, work, around), TARGETS.get(state), 'adds', calls=calls,
                      series=series, same=False)
    scalar = jnp.float32(1)
    printing = jax.jit(lambda v: (jax.debug.callback(lambda x: None, v), v)[1])
    pure = jax.jit(lambda v: jax.pure_callback(add, like(v), v))
    yield Row('JAX: jit, a recorded pure_callback, against a debug.callback that does nothing', lambda: (
        Side('recorded', lambda: pure(scalar), warm(lambda: pure(scalar), recorded(folder))),
        Side('debug.callback', lambda: printing(scalar))), series=SERIES, same=False)


def sides(state: str, work: Work, around: Around) -> tuple[Side, Side]:
    return Side(state, work, warm(work, around)), Side('JAX alone', work, warm(work, nullcontext))
