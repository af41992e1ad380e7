"""Programs with functions of several tasks give here, in one process, what the real TensorFlow's gRPC servers give."""
from __future__ import annotations

import pickle
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from spread_programs import PROGRAMS, values

import pyfuncdbg.tf as tf


@pytest.mark.tensorflow
def test_the_results_of_the_real_tensorflow(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(Path(__file__).with_name('spread_programs.py')), str(tmp_path / 'results')],
                   check=True, timeout=300, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    theirs = pickle.loads((tmp_path / 'results').read_bytes())
    assert theirs.keys() == PROGRAMS.keys()
    for name, expected in theirs.items():
        for value, other in zip(values(tf, '', PROGRAMS[name], lambda device: nullcontext()), expected, strict=True):
            if value.dtype.kind == 'f':
                np.testing.assert_allclose(value, other, rtol=1e-4, atol=1e-6, err_msg=name)
            else:
                assert np.array_equal(value, other), name
