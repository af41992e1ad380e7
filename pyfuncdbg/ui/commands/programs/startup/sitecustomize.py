"""Start of a process of a recorded program, which loads this package once it needs it.

Executed by the interpreter, in a process that `pyfuncdbg run` has told so by its environment, before the program's own code.
The program sees neither this module nor its folder, and its own `sitecustomize` is executed as without us.
"""
from __future__ import annotations

import os
import sys


def _follow() -> None:
    from importlib.machinery import SourceFileLoader
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != here]
    sys.path_importer_cache.pop(here, None)
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(here))))

    def load(name: str) -> dict[str, object]:
        """A module of ours without the packages around it, which take 10 ms."""
        module = type(sys)(f'pyfuncdbg.{name}')
        module.__file__ = os.path.join(root, *name.split('.')) + '.py'
        code = SourceFileLoader(module.__name__, module.__file__).get_code(module.__name__)
        assert code is not None
        exec(code, module.__dict__)
        return module.__dict__

    def record(process: object, module: str) -> None:
        search = list(sys.path)
        sys.path.append(os.path.dirname(root))
        try:
            from pyfuncdbg.ui.commands.programs import child_recording
        finally:
            sys.path[:] = search
        child_recording.record(process, module)  # type: ignore[arg-type]

    watch = load('hooks.import_watch')['ImportWatch']
    commit = load('observers.record.processes.abrupt_ends')['commit_before_ends']
    load('observers.record.processes.followed_process')['follow'](watch, record, commit)  # type: ignore[operator]


sys.modules.pop(__name__, None)
try:  # noqa: SIM105
    _follow()
except Exception:                               # never at the cost of the program; `contextlib` takes longer to load
    pass
del _follow
import sitecustomize  # type: ignore[import-not-found]  # noqa: E402, F401  # the program's own, or the error that the interpreter expects without one
