"""Lazy loading of a namespace's parts at the first use of their names, on the thread that uses the name.

All of `tf` takes three times as long to load as NumPy, and a program uses a small part of it. A namespace without these
is loaded at once: only slower.
"""
from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from pyfuncdbg.tf.public import published

Missing = Callable[[str], Any]


def late(module: str, namespaces: Mapping[str, str], parts: Sequence[str] = (),
         missing: Missing | None = None) -> tuple[Missing, Callable[[], list[str]]]:
    """The `__getattr__` and the `__dir__` of a module.

    Args:
        module: The module's name.
        namespaces: Submodules.
        parts: Modules whose public names it has too; the first that has a name wins.
        missing: Returns a name that no part has, or raises AttributeError.
    """
    names = sys.modules[module].__dict__
    done: set[str] = set()

    def attribute(name: str) -> Any:
        if name in namespaces:
            value: Any = import_module(namespaces[name])
        elif name == '__all__':
            return [name for name in listed() if not name.startswith('_')]
        else:
            if not name.startswith('_') and any(name in loaded(part) for part in parts):
                return names[name]
            if missing is not None:
                return missing(name)
            raise AttributeError(f'module {module!r} has no attribute {name!r}')
        return names.setdefault(name, value)

    def loaded(part: str) -> Mapping[str, Any]:
        """The names of a part, all of them published: a program may get an object of a class that it never names."""
        found = vars(import_module(part))
        if part not in done:
            for name, value in [*found.items()]:
                if not name.startswith('_') and name not in namespaces:
                    names.setdefault(name, published(value, module, name))
            done.add(part)
        return found

    def listed() -> list[str]:
        public = (name for part in parts for name in vars(import_module(part)) if not name.startswith('_'))
        return sorted({*names, *namespaces, *public})

    return attribute, listed
