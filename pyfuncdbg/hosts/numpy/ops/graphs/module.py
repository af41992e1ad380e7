"""`tf.Module`: an object whose attributes hold variables and other modules."""
from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, ClassVar

from pyfuncdbg.hooks.public_function import hide_own_frames_in_methods
from pyfuncdbg.hosts.numpy.graph.types import nest
from pyfuncdbg.hosts.numpy.ops.definition.public_scopes import name_scope
from pyfuncdbg.hosts.numpy.ops.variables.variable import Variable

_WORD = re.compile(r'((?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z]))')
_NAME = re.compile(r'^[a-zA-Z_]([a-zA-Z0-9_])*$')


@hide_own_frames_in_methods
class _Scope:
    """The name scope of a module; it can be entered again and again.

    Attributes:
        name: With a '/' at the end.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._entered: list[AbstractContextManager[str]] = []

    def __enter__(self) -> str:
        self._entered.append(name_scope(self.name))
        return self._entered[-1].__enter__()

    def __exit__(self, *error: Any) -> None:
        self._entered.pop().__exit__(*error)


class Module:
    """An object with variables.

    Args:
        name: A Python identifier; by default from the name of the class.

    Raises:
        ValueError: `name` is no identifier.
    """

    _TF_MODULE_IGNORED_PROPERTIES: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, name: str | None = None) -> None:
        if name is None:
            name = _WORD.sub(r'_\1', type(self).__name__).lower()
        elif not _NAME.match(name):
            raise ValueError(f'{name!r} is not a valid module name. Module names must be valid Python identifiers (e.g. a '
                             'valid class name).')
        self._name = name
        with name_scope(name) as scope:
            self._name_scope = _Scope(scope)

    @property
    def name(self) -> str:
        """The name without outer scopes."""
        return self._name

    @property
    def name_scope(self) -> Any:
        """A context manager in which names begin with that of the module."""
        return self._name_scope

    @property
    def variables(self) -> tuple[Any, ...]:
        """Its variables by the names of its attributes, then those of its modules."""
        return tuple(self._flatten(predicate=lambda leaf: isinstance(leaf, Variable)))

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """The trainable ones of `variables`."""
        return tuple(variable for variable in self.variables if variable.trainable)

    @property
    def non_trainable_variables(self) -> tuple[Any, ...]:
        """The ones of `variables` that are not trainable."""
        return tuple(variable for variable in self.variables if not variable.trainable)

    @property
    def submodules(self) -> tuple[Module, ...]:
        """All modules below this one."""
        return tuple(self._flatten(predicate=lambda leaf: isinstance(leaf, Module)))

    def _flatten(self, recursive: bool = True, predicate: Callable[[Any], Any] | None = None,
                 attribute_traversal_key: Any = None, with_path: bool = False,
                 expand_composites: bool = False) -> Iterator[Any]:
        """The leaves of its attributes, then those of its modules.

        Args:
            recursive: Whether to visit submodules.
            predicate: Selects leaves.
            attribute_traversal_key: Sort key of attributes.
            with_path: Yield (path, leaf), and a leaf once per path.
            expand_composites: Accepted.
        """
        ids = None if with_path else {id(self)}
        for path, leaf in _leaves(self, recursive, attribute_traversal_key, (), ids, ()):
            if predicate is None or predicate(leaf):
                yield (path, leaf) if with_path else leaf

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """A decorator of methods, which then run in the name scope of their module."""
        @functools.wraps(method)
        def method_with_name_scope(self: Module, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)
        return method_with_name_scope


def _leaves(module: Module, recursive: bool, key: Any, path: tuple[Any, ...], ids: set[int] | None,
            around: tuple[int, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    inner: list[tuple[tuple[Any, ...], Module]] = []
    attributes = vars(module)
    for name in sorted(attributes, key=key):
        if name in module._TF_MODULE_IGNORED_PROPERTIES:
            continue
        for leaf_path, leaf in _paths(attributes[name], (*path, name)):
            if ids is not None:
                if id(leaf) in ids:
                    continue
                ids.add(id(leaf))
            yield leaf_path, leaf
            if isinstance(leaf, Module) and recursive and id(module) not in around:
                inner.append((leaf_path, leaf))
    for leaf_path, one in inner:
        yield from _leaves(one, recursive, key, leaf_path, ids, (*around, id(module)))


def _paths(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """The leaves of a structure, each with its path."""
    if not nest.is_nested(value):
        yield path, value
    elif isinstance(value, Mapping):
        for name in sorted(value):
            yield from _paths(value[name], (*path, name))
    elif hasattr(value, '_fields'):
        for name in value._fields:
            yield from _paths(getattr(value, name), (*path, name))
    else:
        for i, item in enumerate(value):
            yield from _paths(item, (*path, i))
