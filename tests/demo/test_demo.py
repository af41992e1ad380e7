"""The demo: its data, and that the program has the bug and the repair that it promises, here and under TensorFlow."""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pyfuncdbg.demo

DEMO = Path(pyfuncdbg.demo.__file__).parent


def trained(script: Path, *args: str) -> tuple[list[str], float, str]:
    """(losses of the epochs, final accuracy in percent, stderr)."""
    done = subprocess.run([sys.executable, str(script), *args], capture_output=True, text=True, check=True,
                          stdin=subprocess.DEVNULL, timeout=110, env=dict(os.environ, PYTHONPATH=str(DEMO.parents[1])))
    losses = re.findall(r'^epoch \d+: loss (\S+),', done.stdout, re.MULTILINE)
    return losses, float(re.findall(r'^train.*: test accuracy (\S+)%$', done.stdout, re.MULTILINE)[-1]), done.stderr


def test_the_digits_are_all_there() -> None:
    table = np.loadtxt(DEMO / 'digits.csv.gz', delimiter=',')
    assert table.shape == (1797, 65)
    assert np.array_equal(table, table.astype(int))
    pixels, digits = table[:, :-1], table[:, -1].astype(int)
    assert (pixels.min(), pixels.max()) == (0, 16)
    assert np.bincount(digits).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert pixels.std(axis=1).min() > 0             # no image is of one colour until the augmentation makes it so


def test_the_digits_come_with_source_and_licence() -> None:
    text = (DEMO / 'LICENSE-digits.txt').read_text()
    assert 'archive.ics.uci.edu' in text
    assert 'CC BY 4.0' in text


def test_the_loss_turns_nan_and_numpy_says_where() -> None:
    losses, accuracy, err = trained(DEMO / 'train.py', '--epochs', '2')
    assert losses == ['nan', 'nan']
    assert accuracy < 20
    line = (DEMO / 'train.py').read_text().splitlines().index('    return (pixels - mean) / std') + 1
    assert f'train.py:{line}: RuntimeWarning: invalid value encountered in divide' in err


def test_the_repaired_program_learns() -> None:
    losses, accuracy, err = trained(DEMO / 'train.py', '--fixed')
    assert float(losses[-1]) < float(losses[0])
    assert accuracy > 90
    assert 'Warning' not in err


def test_the_command_names_call_and_line_of_the_first_nan(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'demo'], cwd=tmp_path, capture_output=True, text=True,
                          timeout=60, stdin=subprocess.DEVNULL,
                          env=dict(os.environ, PYTHONPATH=str(DEMO.parents[1]), COLUMNS='150'))
    assert done.returncode == 0
    assert 'training failed' in done.stdout
    with pyfuncdbg.load(tmp_path / 'demo.pfd') as trace:
        bad = next(call for call in trace.calls(kind='python') if np.isnan(call.outputs[0].to_numpy()).any())
        images = bad.inputs[0].to_numpy()
        (row,) = np.flatnonzero(images.std(axis=1) == 0)
    line = (DEMO / 'train.py').read_text().splitlines().index('    return (pixels - mean) / std') + 1
    assert f'NaN born in call #{bad.number} {bad.label}, normalize at train.py:{line}' in done.stderr
    assert f'faint image: number {row} of 32' in done.stderr        # what this call printed
    assert f'row {row}  every element is 0' in done.stderr


@pytest.mark.tensorflow
def test_it_is_the_same_program_under_tensorflow(tmp_path: Path) -> None:
    source = (DEMO / 'train.py').read_text()
    assert source.count('from pyfuncdbg import tf\n') == 1
    (tmp_path / 'train.py').write_text(source.replace('from pyfuncdbg import tf\n', 'import tensorflow as tf\n'))
    shutil.copy(DEMO / 'digits.csv.gz', tmp_path)
    assert trained(tmp_path / 'train.py', '--epochs', '1')[0] == ['nan']
    ours, theirs = trained(DEMO / 'train.py', '--fixed'), trained(tmp_path / 'train.py', '--fixed')
    assert ours[0] == theirs[0]                     # the same losses to three digits, epoch by epoch
    assert theirs[1] > 90
