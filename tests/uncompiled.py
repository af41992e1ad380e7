"""Imported before `pyfuncdbg`, has it run from its `.py` files alone, as where there was no C compiler."""
from __future__ import annotations

import importlib.util
import sys
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, SourceFileLoader
from pathlib import Path

_spec = importlib.util.find_spec('pyfuncdbg')
assert _spec is not None and _spec.origin is not None and 'pyfuncdbg' not in sys.modules
_PACKAGE = Path(_spec.origin).parent


def _sources(folder: str) -> FileFinder:
    if not Path(folder).is_relative_to(_PACKAGE):
        raise ImportError(f'{folder} is no folder of the package')
    return FileFinder(folder, (SourceFileLoader, SOURCE_SUFFIXES))


sys.path_hooks.insert(0, _sources)
