"""`%pyfunc` before `%load_ext pyfuncdbg`: a hint to load the extension. Put there by `import pyfuncdbg` where IPython runs
already.

It loads nothing. Called on the main thread.
"""
from __future__ import annotations

import sys
from typing import Any

_TEXT = '%pyfunc is not loaded yet. First: %load_ext pyfuncdbg'


def install() -> None:
    """Define `%pyfunc` in an IPython shell without one, to tell how to load it."""
    ipython = sys.modules.get('IPython')
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, 'get_ipython') else None
    magics = getattr(getattr(shell, 'magics_manager', None), 'magics', None)
    if magics is not None:
        magics['line'].setdefault('pyfunc', missing)
        magics['cell'].setdefault('pyfunc', missing)


def missing(line: str, cell: str = '') -> Any:
    """First: %load_ext pyfuncdbg"""
    from IPython.core.error import UsageError
    raise UsageError(_TEXT)
