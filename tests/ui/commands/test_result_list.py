"""Which results of two runs of a program are the same."""
from __future__ import annotations

import pytest

from pyfuncdbg.ui.commands.programs.result_list import Comparison, HostResult, difference


def results(*given: tuple[str, object, str]) -> list[HostResult]:
    """(thread, index of an element or None, value)."""
    return [HostResult(thread, None if index is None else ['Map', index], 'f', [], [[value, 'float32', [], -1]])
            for thread, index, value in given]


ONE = results(('MainThread', None, 'm'), ('a', 0, 'p'), ('b', 1, 'q'), ('a', 2, 'r'), ('b', 3, 's'), ('w', None, 'x'),
              ('v', None, 'y'))


@pytest.mark.parametrize(('given', 'where'), [
    ([('v', None, 'x'), ('MainThread', None, 'm'), ('b', 3, 's'), ('b', 2, 'r'), ('a', 1, 'q'), ('b', 0, 'p'),
      ('w', None, 'y')], None),                                             # other threads, another order
    ([('MainThread', None, 'm'), ('a', 0, 'p'), ('b', 1, 'q'), ('w', None, 'x'), ('v', None, 'y')], None),  # not as far
    ([('MainThread', None, 'm'), ('a', 0, 'p'), ('b', 1, 'q'), ('b', 3, 's'), ('w', None, 'x'), ('v', None, 'y')], None),
    ([('MainThread', None, 'm'), ('a', 0, 'p'), ('a', 2, 'r'), ('b', 3, 's'), ('a', 4, 't'), ('w', None, 'x'),
      ('v', None, 'y')], 'results of element 1 of Map'),                    # too far back to have been in work
    ([('MainThread', None, 'm'), ('a', 0, 'p'), ('b', 1, 'r'), ('a', 2, 'q'), ('b', 3, 's'), ('w', None, 'x'),
      ('v', None, 'y')], 'f number 1 of element 1 of Map, value 0'),        # exchanged
    ([('MainThread', None, 'm'), ('a', 0, 'p'), ('b', 1, 'q'), ('a', 2, 'r'), ('b', 3, 's'), ('w', None, 'x'),
      ('v', None, 'x')], 'f number 1 on thread v, value 0'),
    ([('MainThread', None, 'n'), *[(one.thread, one.element and one.element[1], one.values[0][0]) for one in ONE[1:]]],
     'f number 1, value 0')])
def test_results_of_two_runs(given, where):
    others = results(*given)
    for found in (difference(ONE, others, Comparison(b'', b'')), difference(others, ONE, Comparison(b'', b''))):
        assert (found and found[0]) == where


def test_the_main_thread_has_an_order():
    one = results(('MainThread', None, 'm'), ('MainThread', None, 'n'))
    assert difference(one, one, Comparison(b'', b'')) is None
    assert difference(one, one[::-1], Comparison(b'', b''))[0] == 'f number 1, value 0'
    assert difference(one, one[:1], Comparison(b'', b'')) == ('results on thread MainThread', '2 results', '1 results')
