"""Values that are compared on the program's thread: nothing is reported there in its name."""
from __future__ import annotations

import warnings

import numpy as np
import pytest

from pyfuncdbg.hosts.tensorflow.sessions.whole_run import agree

LARGEST = np.array([1e308])
SIGNALING, QUIET = (np.array([bits], np.uint32).view(np.float32) for bits in (0x7f800001, 0x7fc00000))


@pytest.mark.parametrize('mode', ['warn', 'raise'])
@pytest.mark.parametrize('one, other, same', [(LARGEST, -LARGEST, False), (LARGEST, LARGEST * (1 + 1e-15), True),
                                              (SIGNALING, QUIET, True)])
def test_a_comparison_reports_no_floating_point_error(one: np.ndarray, other: np.ndarray, same: bool, mode: str) -> None:
    with warnings.catch_warnings(), np.errstate(all=mode):
        warnings.simplefilter('error')
        before = np.geterr()
        assert agree(one, other) is same
        assert np.geterr() == before
