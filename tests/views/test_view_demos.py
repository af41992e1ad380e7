"""Every module of the views ends in a demo that runs."""
from __future__ import annotations

import contextlib
import io
import runpy
from pathlib import Path

import pytest

import pyfuncdbg.views

FOLDER = Path(pyfuncdbg.views.__file__).parent
WITHOUT = {'__init__', 'page', 'sample', 'units'}


@pytest.mark.filterwarnings('ignore:.*found in sys.modules:RuntimeWarning')
@pytest.mark.parametrize('name', sorted(path.stem for path in FOLDER.glob('*.py') if path.stem not in WITHOUT))
def test_demo(name):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        runpy.run_module(f'pyfuncdbg.views.{name}', run_name='__main__')
    assert out.getvalue().strip()
