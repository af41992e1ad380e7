"""Lines of functions that `tf.function` traces: met once while tracing, also in the copy whose control flow is converted."""
from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import pyfuncdbg.tf as tf
from pyfuncdbg.hooks import tracing_notice
from pyfuncdbg.observers.debug.conditions.vocabulary import VOCABULARY
from pyfuncdbg.observers.debug.lines.line_breakpoints import LineBreakpoints

PROGRAM = '''
import pyfuncdbg.tf as tf

def helper(v):
    w = v * 2
    return w

@tf.function
def branches(x):
    y = x + 1
    if x > 0:
        y = y * 2
        z = helper(y)
    else:
        z = y - 1
    for i in tf.range(3):
        z = z + tf.cast(i, z.dtype)
    return z

@tf.function(autograph=False)
def plain(x):
    y = x + 1
    return y
'''
LINE = {text.strip(): number for number, text in enumerate(PROGRAM.splitlines(), 1)}


@pytest.fixture
def lines() -> Iterator[LineBreakpoints]:
    made = LineBreakpoints(VOCABULARY)
    tracing_notice.watch(made.look_for_new_code)
    yield made
    for number in list(made._points):
        made.clear(number)


def loaded(path: Path) -> ModuleType:
    path.write_text(PROGRAM)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(('text', 'function', 'names', 'hits'), [
    ('y = x + 1', 'branches', {'x'}, 1),
    ('if x > 0:', 'branches', {'x', 'y'}, 1),
    ('y = y * 2', 'branches', {'y'}, 1),
    ('z = helper(y)', 'branches', {'y'}, 1),
    ('z = y - 1', 'branches', {'y'}, 1),
    ('z = z + tf.cast(i, z.dtype)', 'branches', {'i', 'z'}, 1),
    ('return z', 'branches', {'z'}, 1),
    ('w = v * 2', 'helper', {'v'}, 1),
])
def test_a_line_is_met_once_while_tracing(text: str, function: str, names: set[str], hits: int, lines: LineBreakpoints,
                                          tmp_path: Path) -> None:
    module = loaded(tmp_path / f'traced_{function}.py')
    found = []
    wanted = 10 if text == 'y = x + 1' else LINE[text]
    lines.set(1, str(tmp_path / f'traced_{function}.py'), wanted, None,
              lambda frame, error: found.append((frame.f_code.co_name, {name for name in names if name in frame.f_locals})))
    assert int(module.branches(tf.constant(3))) == 19
    assert found == [(function, names)] * hits
    assert int(module.branches(tf.constant(-3))) == 0 and len(found) == hits          # the trace is known


def test_a_condition_of_a_line_in_a_branch_is_asked(lines: LineBreakpoints, tmp_path: Path) -> None:
    module = loaded(tmp_path / 'traced_condition.py')
    found = []
    lines.set(1, str(tmp_path / 'traced_condition.py'), LINE['y = y * 2'], 'y.dtype.name == "float32"',
              lambda frame, error: found.append(error))
    module.branches(tf.constant(3))
    assert found == []
    module.branches(tf.constant(3.0))
    assert found == [None]


def test_a_breakpoint_that_waited_for_its_file_stops_in_a_function_that_is_traced(lines: LineBreakpoints,
                                                                                  tmp_path: Path) -> None:
    path = tmp_path / 'traced_later.py'
    path.write_text(PROGRAM)
    found = []
    lines.set(1, str(path), LINE['return y'], None, lambda frame, error: found.append(frame.f_lineno or 0))
    assert lines.placement(1).how == 'pending'
    module = loaded(path)
    assert int(module.plain(tf.constant(1))) == 2
    assert len(found) == 1
