"""What a breakpoint costs at the boundary of a call: untouched, with a hook that does nothing, and with conditions."""
from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from measurement import Around, Row, Side, Target, Work

sys.path.insert(0, str(Path(__file__).parent.parent / 'observers' / 'record'))
from plain_host import new_run, new_site

from pyfuncdbg import tf
from pyfuncdbg.hooks import chain
from pyfuncdbg.observers.debug.debugger import DEPTH, debugger

RUN = new_run()


class Nothing:
    """A hook that only proceeds: what the chain itself costs."""

    kinds = frozenset(('python',))

    def around(self, call: Any, proceed: Callable[[], Any]) -> Any:
        return proceed()


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


WAYS = {'a hook that does nothing': chain_on, 'a breakpoint elsewhere': breakpoint_on('other'),
        '1,000 breakpoints elsewhere': breakpoint_on('other{}', count=1_000),
        'if call.ordinal < 0': breakpoint_on('norm', 'call.ordinal < 0'),
        'if has_nan(x)': breakpoint_on('norm', 'has_nan(x)'),
        'if has_nan(out)': breakpoint_on('norm', 'has_nan(out)'),
        'if history[-1].number < 0': breakpoint_on('norm', 'history[-1].number < 0'),
        'a Python function of the call': breakpoint_on('norm', lambda call: False),
        'norm[10**9]': breakpoint_on('norm[1000000000]')}


def rows(folder: Path) -> Iterator[Row]:
    for name, around in WAYS.items():
        yield Row(f'call with 64 floats, {name}', partial(_call, around), kind='adds', seconds=0.5)
    for name, around in WAYS.items():
        yield Row(f'Session.run of one function on 64x64, {name}', partial(_run, around),
                  Target('time', 1.02) if name == 'a breakpoint elsewhere' else None, per='run')


def _call(around: Around) -> tuple[Side, Side]:
    def work() -> Work:
        invoke = partial(chain.invoke, new_site(lambda x: (x,), 'norm'), lambda x: (x,))
        value = np.ones(64, np.float32)
        return lambda: invoke(RUN, [value])
    return Side('with it', work(), around), Side('without', work())


def _run(around: Around) -> tuple[Side, Side]:
    def normalize(x: Any) -> Any:
        return (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + 1e-6)

    with tf.Graph().as_default() as graph:
        fed = tf.compat.v1.placeholder(tf.float32, [64, 64], name='x')
        fetch = tf.numpy_function(normalize, [fed], tf.float32, name='norm')
    values = {fed: np.random.default_rng(1).normal(size=(64, 64)).astype(np.float32)}
    session = tf.compat.v1.Session(graph=graph)
    return Side('with it', lambda: session.run(fetch, values), around), Side('without', lambda: session.run(fetch, values))
