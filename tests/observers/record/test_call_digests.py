"""Digests of calls: equal where the contents of calls are, in whatever form they were recorded."""
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from plain_host import new_run, wrapped

import pyfuncdbg
from pyfuncdbg.observers.record.trace import Trace


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from([np.float32(1), np.array(1, np.float32), np.float64(1), np.array([1], np.float32),
                                 np.complex128(1 + 2j), np.array(1 + 2j), True, np.array([b'a', b'bc'])]), max_size=6))
def test_digests_are_equal_where_values_are(tmp_path_factory: pytest.TempPathFactory, results: list[Any]) -> None:
    """A number is the same as a scalar of NumPy and as an array without dimensions; everything else is not."""
    def program(path: Path, convert: Callable[[Any], Any]) -> Path:
        site = wrapped(lambda x: (x,), 'same')
        run = new_run()
        with pyfuncdbg.record(path):
            for result in results:
                site(convert(result), run=run)
        return path

    folder = tmp_path_factory.mktemp('digests')
    one, two = program(folder / 'one.pfd', lambda result: result), program(folder / 'two.pfd', np.asarray)
    with Trace.open(one) as first, Trace.open(two) as second:
        digests = [trace.groups()[0].content.tolist() for trace in (first, second)]
        contents = [[(call.outputs[0].dtype, call.outputs[0].shape, call.outputs[0].key) for call in trace.calls()]
                    for trace in (first, second)]
    assert contents[0] == contents[1] and digests[0] == digests[1]
    assert len(set(digests[0])) == len(set(contents[0]))
