"""Sites that look alike are told apart; a generator's call has none of its parameters."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.record.trace import Trace
from pyfuncdbg.views.alike import told_apart
from pyfuncdbg.views.source import _parameters

v1 = tf.compat.v1


def built() -> tuple[Any, Any]:
    graph = tf.Graph()
    with graph.as_default():
        return graph, v1.py_func(abs, [tf.constant(-1.0)], tf.float32, name='same')


def run(graph: Any, fetch: Any) -> None:
    with v1.Session(graph=graph) as session:
        session.run(fetch)


def words(folder: Path) -> list[str]:
    """What is said of each call's site, in the order of the calls."""
    with Trace.open(folder / 'trace.pfd') as trace:
        calls = trace.calls()
        found = told_apart(list({call.site.id: call.site for call in calls}.values()))
        return [found[call.site.id].plain if call.site.id in found else '' for call in calls]


def test_sites_of_several_graphs_are_told_apart_by_the_lines_that_built_them(tmp_path: Path) -> None:
    with pyfuncdbg.record(tmp_path / 'trace.pfd'):
        run(*built())
        run(*built())
    first, second = words(tmp_path)
    name, _, line = first.rpartition(':')
    assert name == 'made from test_alike.py' and second == f'{name}:{int(line) + 1}'


def test_those_of_a_loop_by_their_order(tmp_path: Path) -> None:
    with pyfuncdbg.record(tmp_path / 'trace.pfd'):
        for _ in range(3):
            run(*built())
    assert words(tmp_path) == [f'the {nth} of 3 that were made there' for nth in ('1st', '2nd', '3rd')]


def test_one_site_needs_no_word(tmp_path: Path) -> None:
    graph, fetch = built()
    with pyfuncdbg.record(tmp_path / 'trace.pfd'):
        run(graph, fetch)
        run(graph, fetch)
    assert words(tmp_path) == ['', '']


def test_the_input_of_a_generators_call_is_no_parameter_of_it() -> None:
    assert _parameters('def gen(count, scale):\n    for i in range(count):\n        yield i * scale\n') == ()
    assert _parameters('def f(count):\n    def inner():\n        yield count\n    return inner\n') == ('count',)
