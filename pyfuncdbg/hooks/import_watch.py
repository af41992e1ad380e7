"""Import hook that reports the import of a module, without importing it.

A finder in `sys.meta_path` until the module is imported; it finds nothing itself. Runs on the thread that imports. Also
loaded by processes that start, and never load the rest of this package: imports nothing that takes time.
"""
from __future__ import annotations

import sys

TYPE_CHECKING = False                           # `typing` takes longer to load than this
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any


class ImportWatch:
    """Finder that calls a function when a module has been imported.

    Args:
        name: Of the module.
        callback: Called once, on the importing thread, after the whole import.
    """

    def __init__(self, name: str, callback: Callable[[], None]) -> None:
        self._name = name
        self._callback = callback
        self._is_searching = False

    def install(self) -> None:
        """Begin to watch."""
        sys.meta_path.insert(0, self)

    def remove(self) -> None:
        """Watch no more."""
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The other finders' answer, with a loader that reports the import. Called by the import system.

        Args:
            name, path, target: As the import system's finders have them.

        Returns:
            None for any other module.
        """
        if name != self._name or self._is_searching:
            return None
        self._is_searching = True
        try:
            found = (finder.find_spec(name, path, target) for finder in list(sys.meta_path)
                     if finder is not self and hasattr(finder, 'find_spec'))
            spec = next((spec for spec in found if spec is not None), None)
        finally:
            self._is_searching = False
        if spec is not None and spec.loader is not None and hasattr(spec.loader, 'exec_module'):
            spec.loader = _Loader(spec.loader, self)  # type: ignore[assignment]
        return spec

    def on_loaded(self) -> None:
        """The module has been imported."""
        self.remove()
        self._callback()


class _Loader:
    """The module's own loader, which reports the end of the import. The module never shows it."""

    def __init__(self, loader: Any, watch: ImportWatch) -> None:
        self._loader = loader
        self._watch = watch

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        spec.loader = self._loader
        module: ModuleType | None = self._loader.create_module(spec)
        spec.loader = self  # type: ignore[assignment]
        return module

    def exec_module(self, module: ModuleType) -> None:
        spec = module.__spec__
        if spec is not None:
            spec.loader = self._loader
        module.__loader__ = self._loader
        try:
            self._loader.exec_module(module)
        except BaseException as error:
            if error.__traceback__ is not None:     # without this frame
                error.__traceback__ = error.__traceback__.tb_next
            raise
        self._watch.on_loaded()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)
