"""What a breakpoint costs at the boundary of a call: the call untouched, with a hook that does nothing, and with conditions.

    python tests/benchmarks/bench_breakpoints.py

Prints microseconds per call and what each adds; the best of several short series, all in turn, so they see the same noise.
"""
from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / 'observers' / 'record'))
from plain_host import new_run, new_site

from pyfuncdbg import tf
from pyfuncdbg.hooks import chain
from pyfuncdbg.observers.debug.debugger import DEPTH, debugger

RUN = new_run()
ROUNDS, COUNT = 12, 4_000


class Nothing:
    """A hook that only proceeds: what the chain itself costs."""

    kinds = frozenset(('python',))

    def around(self, call: Any, proceed: Callable[[], Any]) -> Any:
        return proceed()


@contextmanager
def nothing_on() -> Iterator[None]:
    yield


@contextmanager
def chain_on() -> Iterator[None]:
    hook = Nothing()
    chain.hooks.add(hook, depth=DEPTH)
    yield
    chain.hooks.remove(hook)


def breakpoint_on(spec: str, when: Any = None, count: int = 1, **options: Any) -> Callable[[], Any]:
    @contextmanager
    def on() -> Iterator[None]:
        made = [debugger.breakpoints.set(spec.format(i), when, **options) for i in range(count)]
        debugger.start()
        yield
        debugger.leave()
        for one in made:
            debugger.breakpoints.clear(one.number)
    return on


def best(work: Callable[[], object], surroundings: dict[str, Callable[[], Any]], count: int,
         rounds: int) -> dict[str, float]:
    """Microseconds of one call in each of the surroundings."""
    found = dict.fromkeys(surroundings, float('inf'))
    for _ in range(rounds):
        for name, around in surroundings.items():
            with around():
                work()
                began = time.perf_counter()
                for _ in range(count):
                    work()
                found[name] = min(found[name], (time.perf_counter() - began) / count * 1e6)
    return found


def show(title: str, found: dict[str, float], chain_name: str) -> None:
    bare = found['untouched']
    print(f'{title}\n{"":38} {"us":>8} {"adds":>8} {"of it ours":>10} {"ratio":>7}')
    for name, taken in found.items():
        ours = '' if name in ('untouched', chain_name) else f'{taken - found[chain_name]:10.2f}'
        print(f'  {name:36} {taken:8.2f} {taken - bare:8.2f} {ours:>10} {taken / bare:7.2f}')


def main() -> None:
    def function(x: Any) -> Any:
        return (x,)

    x = np.float32(1)
    row = np.ones(64, np.float32)
    surroundings = {'untouched': nothing_on, 'a hook that does nothing': chain_on,
                    'breakpoint elsewhere': breakpoint_on('other'),
                    '1,000 breakpoints elsewhere': breakpoint_on('other{}', count=1_000),
                    'if x < 0': breakpoint_on('norm', 'x < 0'),
                    'if call.ordinal < 0': breakpoint_on('norm', 'call.ordinal < 0'),
                    'if has_nan(x)': breakpoint_on('norm', 'has_nan(x)'),
                    'if has_nan(out)': breakpoint_on('norm', 'has_nan(out)'),
                    'if history[-1].number < 0': breakpoint_on('norm', 'history[-1].number < 0'),
                    'a Python function of the call': breakpoint_on('norm', lambda call: False),
                    'norm[10**9]': breakpoint_on('norm[1000000000]')}
    for title, value in (('a call with one scalar', x), ('a call with 64 floats', row)):
        invoke = partial(chain.invoke, new_site(lambda x: (x,), 'norm'), function)
        few = dict(surroundings)
        if value is row:
            del few['if x < 0']
        show(title, best(lambda v=value, i=invoke: i(RUN, [v]), few, COUNT, ROUNDS), 'a hook that does nothing')

    def normalize(x: Any) -> Any:
        return (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + 1e-6)

    graph = tf.Graph()
    with graph.as_default():
        fed = tf.compat.v1.placeholder(tf.float32, [64, 64], name='x')
        fetch = tf.numpy_function(normalize, [fed], tf.float32, name='norm')
    values = {fed: np.random.default_rng(1).normal(size=(64, 64)).astype(np.float32)}
    with tf.compat.v1.Session(graph=graph) as session:
        whole = {name: around for name, around in surroundings.items() if name not in ('if x < 0',)}
        show('Session.run of one function on 64x64', best(lambda: session.run(fetch, values), whole, 400, 2 * ROUNDS),
             'a hook that does nothing')


if __name__ == '__main__':
    main()
