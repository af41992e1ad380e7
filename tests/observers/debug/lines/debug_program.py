"""Programs written for one test: real files, really imported."""
from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType


def loaded(name: str, text: str, folder: Path) -> ModuleType:
    """Write a module and import it."""
    path = folder / f'{name}.py'
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
