"""Tensors in the memory of a device: what is copied from there, and what a recording has of them. The device is a fake."""
from __future__ import annotations

from typing import Any

import pytest
from torch_programs import Record

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def _python_device(torch: Any) -> None:
    from torch.utils import backend_registration
    if not hasattr(backend_registration, '_setup_privateuseone_for_python_backend'):
        pytest.skip('this PyTorch has no devices in Python')


def test_a_recording_has_counts_that_the_device_has_made(record: Record) -> None:
    recorded = record('torch_device.py')
    assert recorded.out == 'five\nfar:0 copied 6\n'         # the counts of one tensor, and no element
    calls = recorded.trace.calls()
    values = [value for call in calls for value in (*call.inputs, *call.outputs)]
    assert [(value.dtype, value.shape, value.note) for value in values[:3]] == [
        ('float32', (7,), 'on far:0'), ('float32', (7,), 'on far:0'), ('int64', (3,), 'on far:0')]
    counts = [(value.stats.nan, value.stats.neg_inf, value.stats.neg, value.stats.zero, value.stats.pos, value.stats.pos_inf)
              for value in values if value.stats is not None]
    assert counts == [(1, 1, 1, 1, 2, 1)] * 2 + [(0, 0, 1, 1, 1, 0)] * 2 + [(0, 0, 0, 0, 300, 0)] * 2 + [(0, 0, 0, 0, 5, 0)]
    assert calls[3].error is not None and calls[3].error.message == 'five'


def test_nothing_is_copied_where_no_value_is_recorded(record: Record) -> None:
    recorded = record('torch_device.py', '--level', 'none')
    assert recorded.out == 'five\nfar:0 copied 0\n'
    value, = recorded.trace.calls()[0].inputs
    assert (value.dtype, value.shape, value.stats) == ('float32', (7,), None)


def test_whole_values_are_copied_where_the_user_asks_for_them(record: Record) -> None:
    recorded = record('torch_device.py', '--level', 'full')
    assert recorded.out == 'five\nfar:0 copied 300\n'
    assert recorded.trace.calls()[1].outputs[0].to_numpy().tolist() == [-6.0, 0.0, 8.0]
