"""Runs a short program, given as text, that records calls of the plain host."""
from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
# Some of these programs may write no large files: what they compiled would be cut off, and that for all who come after.
ENVIRONMENT = {**os.environ, 'PYTHONPATH': os.pathsep.join([str(HERE), str(HERE.parents[2])]),
               'PYTHONDONTWRITEBYTECODE': '1'}


def run_script(tmp_path: Path, text: str, *arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """What it printed and how it ended; it has 60 s."""
    script = tmp_path / 'script.py'
    script.write_text('from pyfuncdbg.observers.record.recorder import Recorder\nfrom plain_host import *\n'
                      'import os, sys, time, threading\n' + textwrap.dedent(text))
    return subprocess.run([sys.executable, script, *map(str, arguments)], capture_output=True, text=True, timeout=60,
                          check=False, **{'env': ENVIRONMENT, **options})
