"""Names of the leaves of gradient graphs: parameters by their place in a module, other tensors by the program's variable."""
from __future__ import annotations

import weakref
from collections.abc import Collection, Iterator
from types import FrameType
from typing import Any

from pyfuncdbg.hooks.live_objects import class_and_subclasses, find_objects
from pyfuncdbg.hooks.own_files import outside_machinery
from pyfuncdbg.hosts.torch.torch_parts import TorchParts

_MOST = 1 << 16
_MOST_VAIN = 8
"""Searches for optimizers, each through all objects of the program, that find none, one after another."""


class ParameterName:
    """Name of a parameter.

    Attributes:
        name: With the names of the modules that it is in: 'encoder.weight'.
        root: The outermost of these modules; the optimizer of a parameter that is in no module of them.
    """

    __slots__ = ('name', 'parameter', 'root')

    def __init__(self, parameter: Any, name: str, root: Any) -> None:
        self.parameter: weakref.ref[Any] = weakref.ref(parameter)
        self.name = name
        self.root: weakref.ref[Any] = weakref.ref(root)


class LeafNames:
    """Lookup of names. All modules are searched for where a parameter is not known."""

    def __init__(self, parts: TorchParts) -> None:
        self._parts = parts
        self._module: type = parts.modules.Module
        self._parameter: type = parts.torch.nn.Parameter
        self._by_id: dict[int, ParameterName] = {}
        self._unknown: dict[int, weakref.ref[Any]] = {}
        self._optimizer: type = parts.optimizers.Optimizer
        self._optimizers: list[weakref.ref[Any]] = []
        self._vain_searches = 0
        self._by_optimizer: dict[int, tuple[weakref.ref[Any], str]] = {}

    def name(self, leaf: Any, frame: FrameType | None) -> str:
        """The name of a leaf.

        Args:
            leaf: A tensor.
            frame: One of the program's frames, or one further in.
        """
        entry = self.parameter_name(leaf)
        if entry is not None:
            return entry.name
        return _global_name(leaf, frame) or self._optimizer_name(leaf) or f'tensor {list(leaf.shape)}'

    def parameter_name(self, leaf: Any) -> ParameterName | None:
        """The name of a parameter of a module; None of another tensor."""
        entry = self._by_id.get(id(leaf))
        if entry is not None and entry.parameter() is leaf:
            return entry
        unknown = self._unknown.get(id(leaf))
        if not isinstance(leaf, self._parameter) or (unknown is not None and unknown() is leaf):
            return None
        self._search()
        entry = self._by_id.get(id(leaf))
        if entry is None or entry.parameter() is not leaf:
            if len(self._unknown) > _MOST:
                self._unknown.clear()
            self._unknown[id(leaf)] = weakref.ref(leaf)
            return None
        return entry

    def known_name(self, leaf: Any) -> str:
        """The name of a parameter that was looked up before; '' of any other: a module that is being made has none yet."""
        entry = self._by_id.get(id(leaf))
        return entry.name if entry is not None and entry.parameter() is leaf else ''

    def _optimizer_name(self, leaf: Any) -> str:
        """The place of a tensor in an optimizer, 'SGD.params[1]'; '' of one that is in none."""
        entry = self._by_optimizer.get(id(leaf))
        if entry is not None and entry[0]() is leaf:
            return entry[1]
        if self._vain_searches >= _MOST_VAIN:
            return ''
        self._search_optimizers()
        name = self._by_optimizer.setdefault(id(leaf), (weakref.ref(leaf), ''))[1]
        self._vain_searches = 0 if name else self._vain_searches + 1
        return name

    def relatives(self, leaves: Collection[int], frame: FrameType | None) -> list[ParameterName]:
        """The names of all parameters in the outermost modules of leaves, and in the optimizers that change one of them.

        Args:
            leaves: Ids of the leaves.
            frame: As of `name`.
        """
        roots: dict[int, Any] = {}
        for leaf in leaves:
            entry = self._by_id.get(leaf)
            if entry is not None and (root := entry.root()) is not None:
                roots[id(root)] = root
        related = [ParameterName(parameter, name, root) for root in roots.values()
                   for name, parameter in named_parameters(root)]
        known, names = {id(entry.parameter()) for entry in related}, {entry.name for entry in related}
        for optimizer in self._optimizers_of(leaves):
            for parameter, place in _optimized(optimizer):
                if id(parameter) not in known:
                    name = self.name(parameter, frame)
                    related.append(ParameterName(parameter, place if name in names else name, optimizer))
                    known.add(id(parameter))
                    names.add(related[-1].name)
        return related

    def _optimizers_of(self, leaves: Collection[int]) -> list[Any]:
        """The optimizers that change one of the leaves with these ids."""
        known = self._known_optimizers()
        if self._vain_searches < _MOST_VAIN and not set().union(*[parameters for _, parameters in known]).issuperset(leaves):
            self._search_optimizers()
            before, known = known, self._known_optimizers()
            self._vain_searches = 0 if len(known) > len(before) else self._vain_searches + 1
        return [optimizer for optimizer, parameters in known if not parameters.isdisjoint(leaves)]

    def _known_optimizers(self) -> list[tuple[Any, set[int]]]:
        """The optimizers that were found and are still there, with the ids of what they change now."""
        return [(optimizer, {id(parameter) for parameter, _ in _optimized(optimizer)})
                for reference in self._optimizers if (optimizer := reference()) is not None]

    def _search(self) -> None:
        """Name the parameters of all modules that there are."""
        modules = find_objects(*class_and_subclasses(self._module))
        inner = {id(child) for module in modules for child in _members(module, '_modules').values()}
        self._by_id.clear()
        for root in modules:
            if id(root) not in inner:
                for name, parameter in named_parameters(root):
                    self._by_id.setdefault(id(parameter), ParameterName(parameter, name, root))

    def _search_optimizers(self) -> None:
        """Find all optimizers that there are, and name what they change."""
        self._optimizers.clear()
        self._by_optimizer.clear()
        for optimizer in find_objects(*class_and_subclasses(self._optimizer)):
            self._optimizers.append(weakref.ref(optimizer))
            for parameter, name in _optimized(optimizer):
                self._by_optimizer[id(parameter)] = weakref.ref(parameter), name


def _optimized(optimizer: Any) -> Iterator[tuple[Any, str]]:
    """The tensors of an optimizer with their names: the program's own where it has given names to them."""
    groups = vars(optimizer).get('param_groups')
    if type(groups) is not list:
        return
    for number, group in enumerate(groups):
        names = group.get('param_names') or ()
        place = type(optimizer).__name__ + (f'.group[{number}]' if len(groups) > 1 else '')
        for i, parameter in enumerate(group['params']):
            yield parameter, str(names[i]) if i < len(names) else f'{place}.params[{i}]'


def named_parameters(module: Any, prefix: str = '', known: set[int] | None = None) -> list[tuple[str, Any]]:
    """The parameters of a module and those within it, by name; runs no code of the program.

    What `torch.compile` has wrapped has the names that it had before.
    """
    known = set() if known is None else known
    if id(module) in known:
        return []
    known.add(id(module))
    named = [(prefix + name, parameter) for name, parameter in _members(module, '_parameters').items()
             if parameter is not None]
    for name, child in _members(module, '_modules').items():
        if child is not None:
            named += named_parameters(child, prefix if name == '_orig_mod' else f'{prefix}{name}.', known)
    return named


def _members(module: Any, kind: str) -> dict[str, Any]:
    members = object.__getattribute__(module, '__dict__').get(kind)
    return dict(members) if isinstance(members, dict) else {}


def _global_name(leaf: Any, frame: FrameType | None) -> str:
    """The program's global variable that holds a tensor. Reading local ones would keep all their values alive."""
    line = outside_machinery(frame)
    while line is not None:
        for name, value in list(line.f_globals.items()):
            if value is leaf and not name.startswith('_'):
                return name
        globals_before = line.f_globals
        while line is not None and line.f_globals is globals_before:
            line = outside_machinery(line.f_back)
    return ''
