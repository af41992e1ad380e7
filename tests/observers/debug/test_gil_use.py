"""The hook that measures how Python functions share the interpreter: times, calls at once, and what they are known by."""
from __future__ import annotations

import threading
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from pyfuncdbg.hooks import chain
from pyfuncdbg.hooks.call import CallSite, Frame, Run
from pyfuncdbg.hooks.diagnosis import Place, Spot
from pyfuncdbg.observers.debug.diagnosis.gil_use import GilUse
from pyfuncdbg.observers.record.index.decode import unknown_site


class PlainHost:
    """The part of a host that the recorder asks."""

    def __init__(self, name: str) -> None:
        self.name = name

    def to_numpy(self, value: Any) -> np.ndarray:
        return np.asarray(value)


def test_nodes_that_one_line_makes_are_one_function_whose_calls_overlap() -> None:
    watch, gate = GilUse(), threading.Barrier(2)

    def meet(x: Any) -> list[Any]:
        gate.wait(10)
        return [x]

    stack = (Frame('model.py', 17, 'worker'),)
    sites = [CallSite(name, 'PyFunc', 'python', PlainHost('plain'), function=meet, stack=stack)  # type: ignore[arg-type]
             for name in ('left', 'right')]
    watch.start()
    try:
        threads = [threading.Thread(target=partial(chain.invoke, site, meet), args=(Run('test', site.host, 0), [b'x']))
                   for site in sites]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        watch.stop()
    (fact,) = watch.facts()
    assert fact.site in [site.id for site in sites] and (fact.data['calls'], fact.data['together']) == (2, 2)
    assert fact.data['busy'] <= fact.data['span'] and fact.data['wall'] > 0
    spot = Spot(Place('model.py', 17), tuple(unknown_site(id, 1) for id in (1, 2)), (), 2, 0, 0.1)
    named = replace(spot, sites=tuple(replace(site, name=name) for site, name in zip(spot.sites, 'ab', strict=True)))
    assert (named.title, spot.title) == ('a, b', '?')


def test_time_and_company_of_each_site() -> None:
    watch, gate = GilUse(), threading.Barrier(3)

    def together(x: Any) -> list[Any]:
        gate.wait(10)
        return [x]

    site = CallSite('f', 'PyFunc', 'python', PlainHost('plain'))  # type: ignore[arg-type]
    invoke = partial(chain.invoke, site, together)
    watch.start()
    try:
        threads = [threading.Thread(target=invoke, args=(Run('test', site.host, 0), [b'x'])) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        watch.stop()
    (fact,) = watch.facts()
    assert fact.site == site.id and (fact.data['calls'], fact.data['together'], fact.data['threads']) == (3, 3, 3)
    assert 0 < fact.data['busy'] <= fact.data['wall'] and fact.data['busy'] <= fact.data['span']
    assert fact.data['texts'] == {'0': 'bytes'} and fact.data['cpu'] <= fact.data['wall']
