"""Sites that look alike are told apart; a generator's call has none of its parameters."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute
from pyfuncdbg.ui.views.labels import site_label_text
from pyfuncdbg.ui.views.sources.source import _parameters

v1 = tf.compat.v1


def built() -> tuple[Any, Any]:
    graph = tf.Graph()
    with graph.as_default():
        return graph, v1.py_func(abs, [tf.constant(-1.0)], tf.float32, name='same')


def run(graph: Any, fetch: Any) -> None:
    with v1.Session(graph=graph) as session:
        session.run(fetch)


def shown(folder: Path) -> dict[str, list[str]]:
    """What tables say of each call's or node's site, in the order of the calls."""
    with Trace.open(folder / 'trace.pfd') as trace:
        context = Context(trace, width=200)
        listed = execute(['calls'], context).result
        costs = sorted(execute(['lp', '--kind', 'python'], context).result.rows, key=lambda cost: int(cost.newest))
        named = [site_label_text(listed.alike.get(call.number)).plain for call in listed.calls if listed.alike]
        return {'calls': named, 'lp': [site_label_text(cost.alike).plain for cost in costs],
                'report': [line for line in execute(['report'], context).text(200).split('\n') if '  made ' in line]}


def test_sites_of_several_graphs_are_told_apart_by_the_lines_that_built_them(tmp_path: Path) -> None:
    with pyfuncdbg.record(tmp_path / 'trace.pfd'):
        run(*built())
        run(*built())
    found = shown(tmp_path)
    name, _, line = found['calls'][0].rpartition(':')
    assert name == 'test_alike.py' and found['calls'] == found['lp'] == [f'{name}:{line}', f'{name}:{int(line) + 1}']
    assert sorted(text.split('  made at ')[1].strip() for text in found['report']) == found['calls']


def test_those_of_a_loop_by_their_order_also_where_some_are_filtered(tmp_path: Path) -> None:
    with pyfuncdbg.record(tmp_path / 'trace.pfd'):
        for _ in range(3):
            run(*built())
    found = shown(tmp_path)
    line = f'{Path(__file__).name}:{built.__code__.co_firstlineno + 3}'
    assert found['calls'] == found['lp'] == [f'{nth} of 3 at {line}' for nth in ('1st', '2nd', '3rd')]
    assert sorted(words.split('  made ')[1].strip() for words in found['report']) == found['calls']
    with Trace.open(tmp_path / 'trace.pfd') as trace:
        assert '2nd of 3' in execute(['calls', '--run', str(trace.calls()[1].run)], Context(trace, width=100)).text(100)


def test_those_of_several_lines_by_the_line_and_their_order_there(tmp_path: Path) -> None:
    with pyfuncdbg.record(tmp_path / 'trace.pfd'):
        for _ in range(2):
            run(*built())
        run(*built())
    found = shown(tmp_path)
    first = test_those_of_several_lines_by_the_line_and_their_order_there.__code__.co_firstlineno + 3
    name = Path(__file__).name
    assert found['calls'] == found['lp'] == [f'1st of 2 at {name}:{first}', f'2nd of 2 at {name}:{first}',
                                               f'{name}:{first + 1}']


def test_one_site_needs_no_word(tmp_path: Path) -> None:
    graph, fetch = built()
    with pyfuncdbg.record(tmp_path / 'trace.pfd'):
        run(graph, fetch)
        run(graph, fetch)
    assert shown(tmp_path) == {'calls': [], 'lp': [''], 'report': []}


def test_the_input_of_a_generators_call_is_no_parameter_of_it() -> None:
    assert _parameters('def gen(count, scale):\n    for i in range(count):\n        yield i * scale\n') == ()
    assert _parameters('def f(count):\n    def inner():\n        yield count\n    return inner\n') == ('count',)
