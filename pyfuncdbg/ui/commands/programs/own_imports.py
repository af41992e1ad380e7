"""Import system of this package beside the program's, which loads anew what plain Python would not have loaded yet.

A program with a `json.py` in its folder, or in one that it adds to its path, imports that, though we have loaded the
library's: `script` takes what we have loaded out of `sys.modules`. It is kept here for our modules and the libraries that
they load: those have builtins of their own, whose `__import__` asks here first. A program that finds the library's after all
gets ours, so that no module exists twice. Any thread.
"""
from __future__ import annotations

import builtins
import contextlib
import dis
import os
import sys
import threading
from collections import ChainMap
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial, update_wrapper
from importlib import _bootstrap
from importlib.machinery import (
    BuiltinImporter,
    FrozenImporter,
    ModuleSpec,
    PathFinder,
    SourceFileLoader,
    SourcelessFileLoader,
)
from importlib.util import module_from_spec, resolve_name
from types import FunctionType, ModuleType
from typing import Any

_PACKAGE = __name__.partition('.')[0]
_IMPORT = dis.opmap['IMPORT_NAME']
_SYSTEM = (sys.modules['_frozen_importlib'], sys.modules['_frozen_importlib_external'])
COMPILED = frozenset({'numpy', 'ml_dtypes'})
"""Packages whose compiled code may be in a process only once: the program has them too, unless its own are found near it."""
_ALWAYS_SHARED = (_PACKAGE, '__main__', 'builtins', 'sys')


class _Thread(threading.local):
    """Count of our imports under way on this thread; modules that they load are ours too."""

    depth = 0


class _Sys(ModuleType):
    """`sys` with our modules among `modules`, for those of the standard library that look for themselves there."""

    def __init__(self, modules: ChainMap[str, ModuleType]) -> None:
        super().__init__('sys')
        vars(self)['modules'] = modules

    def __getattr__(self, name: str) -> Any:
        return getattr(sys, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(sys, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(sys, name)


def _mirroring_class(copy: dict[str, Any]) -> type[ModuleType]:
    """Class of `builtins` that sets in a copy too what a program sets there.

    Libraries that we have loaded have the copy, and the program has those libraries too.
    """

    class Mirrored(ModuleType):
        def __setattr__(self, name: str, value: Any) -> None:
            super().__setattr__(name, value)
            if name != '__import__':
                copy[name] = value

        def __delattr__(self, name: str) -> None:
            super().__delattr__(name)
            copy.pop(name, None)

    Mirrored.__name__ = Mirrored.__qualname__ = ModuleType.__name__     # the program sees an ordinary module
    Mirrored.__module__ = ModuleType.__module__
    return Mirrored


class _LoadedModule:
    """Loader of a module that is loaded."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._spec = module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec


class OwnImports:
    """Modules that only we see, and the `__import__` that finds them.

    Args:
        path: Where we look for what is not loaded yet: `sys.path` before the program's folder was put into it.
    """

    def __init__(self, path: Sequence[str]) -> None:
        self._path = list(path)
        self._modules: dict[str, ModuleType] = {}
        self._shared: dict[str, ModuleType] = {}
        self._loading: set[str] = set()
        self._withdrawn: set[str] = set()
        self._functions: dict[FunctionType, FunctionType] = {}
        self._thread = _Thread()
        self._sys = _Sys(ChainMap(self._modules, sys.modules))
        self._import: Callable[..., ModuleType] = builtins.__import__
        self._builtins = {**vars(builtins), '__import__': self.import_module}
        self._library_builtins = dict(self._builtins)

    def install(self) -> None:
        """From now on what is loaded of this package imports through here."""
        sys.meta_path.insert(0, self)

    def withdraw(self, names: Collection[str], before: Collection[str]) -> None:
        """Take modules and their submodules out of `sys.modules`; who imports one gets what the path has then.

        Args:
            names: Of modules, without submodules.
            before: Names of what plain Python has loaded too: that imports as it does there.
        """
        for name in list(sys.modules):
            top, _, rest = name.partition('.')
            if top in names:
                self._modules[name] = sys.modules[name]
                # Compiled code of theirs looks for its private modules there each time; a program's `numpy.py` has none.
                if top not in COMPILED or '._' not in f'.{rest}':
                    del sys.modules[name]
        self._withdrawn.update(names)
        builtins.__class__ = _mirroring_class(self._library_builtins)
        for module in {**sys.modules, **self._modules}.values():
            if module.__name__ not in before:
                self._rebuild(module, frozenset(names), before)
        self._adapt(self._modules.values(), self._sys)
        if 'json' in names:
            _decode(self._modules, 'py_')
        self._functions.clear()
        dataclasses = sys.modules.get('dataclasses')
        if dataclasses is not None:             # `dataclasses` looks up `typing` there
            self._adapt([dataclasses], self._sys)

    def complete(self) -> None:
        """Let the interpreter's exit find `threading`, whose threads it waits for, unless the program has its own."""
        if 'threading' in self._withdrawn:
            sys.modules.setdefault('threading', self._modules['threading'])

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The answer of the other finders to the import system, to be executed with our builtins if it is for us."""
        is_own = self._thread.depth or name.startswith(_PACKAGE + '.')
        withdrawn = name in self._withdrawn
        if not is_own and not withdrawn:
            return None
        found = (finder.find_spec(name, path, target) for finder in list(sys.meta_path) if finder is not self)
        spec = next((spec for spec in found if spec is not None), None)
        if withdrawn and is_same(self._modules[name].__spec__, spec):
            return self._lent(name)
        if not is_own:
            return spec
        if spec is not None and isinstance(spec.loader, SourceFileLoader | SourcelessFileLoader):
            spec.loader.exec_module = partial(self._execute, spec.loader.exec_module)  # type: ignore[method-assign]
        return spec

    def import_module(self, name: str, space: Mapping[str, Any] | None = None, names: Mapping[str, Any] | None = None,
                      from_names: Sequence[str] | None = (), level: int = 0) -> ModuleType:
        """`__import__` of our modules."""
        asking = str((space or {}).get('__package__') or '') if level else name
        top = asking.partition('.')[0]
        if type(from_names) is list and not from_names and top in self._modules and is_same(
                self._modules[top].__spec__, find(top, sys.path)):
            return self._import(name, space, names, from_names, level)      # compiled code looks in `sys.modules` then
        if self._is_shared(top):
            self._thread.depth += 1
            try:
                return self._import(name, space, names, from_names, level)
            finally:
                self._thread.depth -= 1
        full = resolve_name('.' * level + name, asking) if level else name
        module = self._load(full)
        for each in from_names or ():
            if each != '*' and not hasattr(module, each) and hasattr(module, '__path__'):
                with contextlib.suppress(ModuleNotFoundError):      # the import statement raises it
                    self._load(f'{full}.{each}')
        return module if from_names or level else self._load(top)

    def _lent(self, name: str) -> ModuleSpec:
        """A module of ours that is the program's too, as the import system wants it."""
        modules = {each: module for each, module in self._modules.items() if each.partition('.')[0] == name}
        if name == 'json':
            _decode(modules, 'c_')
        self._adapt(modules.values(), self._sys if name == 'dataclasses' else sys)  # it looks for classes' modules there
        sys.modules.update({each: module for each, module in modules.items() if each != name})
        self._withdrawn.discard(name)
        for each in modules:
            del self._modules[each]
        return ModuleSpec(name, _LoadedModule(modules[name]))  # type: ignore[arg-type]

    def _rebuild(self, owner: ModuleType | type, names: frozenset[str], before: Collection[str]) -> None:
        """Make functions of a module anew that import one of these names: each keeps the builtins it was made with."""
        for key, value in list(vars(owner).items()):
            if isinstance(value, type):
                if isinstance(owner, ModuleType) and value.__module__ == owner.__name__:
                    self._rebuild(value, names, before)
            elif isinstance(value, FunctionType | staticmethod | classmethod | property):
                again = self._again(value, names, before)
                if again is not value:
                    setattr(owner, key, again)

    def _again(self, value: Any, names: frozenset[str], before: Collection[str]) -> Any:
        """A function with our builtins, or what wraps it; the value itself where that changes nothing."""
        if isinstance(value, staticmethod | classmethod):
            function = self._again(value.__func__, names, before)
            return value if function is value.__func__ else type(value)(function)
        if isinstance(value, property):
            getter, setter, deleter = (self._again(part, names, before) for part in (value.fget, value.fset, value.fdel))
            same = getter is value.fget and setter is value.fset and deleter is value.fdel
            return value if same else property(getter, setter, deleter, value.__doc__)
        if not isinstance(value, FunctionType) or value.__module__ in before or not _may_import(value, names):
            return value
        rebound = self._functions.get(value)      # where another module has it by name too, it stays one function
        if rebound is None:
            space = value.__globals__
            builtins = space.get('__builtins__')
            space['__builtins__'] = self._builtins_for(space)
            rebound = FunctionType(value.__code__, space, value.__name__, value.__defaults__, value.__closure__)
            space['__builtins__'] = builtins
            rebound.__kwdefaults__ = value.__kwdefaults__
            update_wrapper(rebound, value, updated=('__dict__',))
            del rebound.__wrapped__  # type: ignore[attr-defined]
            self._functions[value] = self._functions[rebound] = rebound
        return rebound

    def _adapt(self, modules: Iterable[ModuleType], view: ModuleType) -> None:
        for module in modules:
            # The import system itself, which goes by the name of importlib's too, makes every module of `type(sys)`.
            if module not in _SYSTEM and vars(module).get('sys') in (sys, self._sys):
                vars(module)['sys'] = view

    def _is_shared(self, top: str) -> bool:
        """Whether the program's module of this name is the one we need."""
        if top in _ALWAYS_SHARED:
            return True
        if top in self._modules:
            return False
        module = sys.modules.get(top)
        if module is not None and self._shared.get(top) is module:
            return True
        ours = find(top, self._path)
        theirs = getattr(module, '__spec__', None) if module is not None else find(top, sys.path)
        shared = ours is None or is_same(ours, theirs)
        if shared and module is not None:
            self._shared[top] = module
        return shared

    def _load(self, name: str) -> ModuleType:
        """One of our modules, loaded if it is not yet; `sys.modules` does not come to know it."""
        module = self._modules.get(name)
        if module is not None and name not in self._loading:
            return module
        parent, _, last = name.rpartition('.')
        parent_module = self._load(parent) if parent else None
        # The import system's own lock: it sees threads that wait for each other.
        with _bootstrap._ModuleLockManager(name):  # type: ignore[attr-defined]
            module = self._modules.get(name)
            if module is not None:
                return module
            spec = find(name, self._path if parent_module is None else getattr(parent_module, '__path__', []))
            if spec is None or spec.loader is None:
                raise ModuleNotFoundError(f'No module named {name!r}', name=name)
            module = self._modules[name] = module_from_spec(spec)
            self._loading.add(name)
            self._thread.depth += 1
            try:
                self._execute(spec.loader.exec_module, module)
            except BaseException:
                del self._modules[name]
                raise
            finally:
                self._thread.depth -= 1
                self._loading.discard(name)
        self._adapt([module], self._sys)
        if parent_module is not None:
            setattr(parent_module, last, module)
        return module

    def _execute(self, execute: Callable[[ModuleType], None], module: ModuleType) -> None:
        vars(module)['__builtins__'] = self._builtins_for(vars(module))
        execute(module)

    def _builtins_for(self, space: Mapping[str, Any]) -> dict[str, Any]:
        """The builtins of a module: what a program replaces changes the libraries, which it may have too, and never us."""
        ours = str(space.get('__name__')).partition('.')[0] == _PACKAGE
        return self._builtins if ours else self._library_builtins


def find(name: str, path: Sequence[str]) -> ModuleSpec | None:
    """The spec of a module on a path; modules built into the interpreter come before every path."""
    for finder in (BuiltinImporter, FrozenImporter):
        spec = finder.find_spec(name)
        if spec is not None:
            return spec
    return PathFinder.find_spec(name, path)


def is_same(one: ModuleSpec | None, other: ModuleSpec | None) -> bool:
    """Whether two specs are of one file, or both of a namespace package."""
    if one is None or other is None or one.origin == other.origin:
        return one is not None and other is not None
    if not (one.has_location and other.has_location and one.origin and other.origin):
        return False
    try:
        return os.path.samefile(one.origin, other.origin)
    except OSError:
        return False


def _may_import(function: FunctionType, names: frozenset[str]) -> bool:
    """Whether a function's own code imports something and names one of these modules; to be wrong costs little."""
    code = function.__code__
    packages = [name.partition('.')[0] for name in code.co_names if '.' in name]
    return not (names.isdisjoint(code.co_names) and names.isdisjoint(packages)) and _IMPORT in code.co_code[::2]


def _decode(modules: Mapping[str, ModuleType], prefix: str) -> None:
    """Let `json` do with or without its C scanner, which looks for the class of its errors in `sys.modules`."""
    if 'json.decoder' not in modules:
        return
    decoder, scanner = vars(modules['json.decoder']), vars(modules['json.scanner'])
    decoder['scanstring'] = decoder[prefix + 'scanstring'] or decoder['py_scanstring']
    scanner['make_scanner'] = scanner[prefix + 'make_scanner'] or scanner['py_make_scanner']
    vars(modules['json'])['_default_decoder'].__init__()
