"""Datasets whose items are calls: what a DataLoader's fetcher reads in place of the program's dataset.

On the thread, and in the process, in which the DataLoader fetches. The dataset itself is never changed.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import FunctionType, GeneratorType, MethodType
from typing import Any

from pyfuncdbg.hooks.generator_end import SOURCE
from pyfuncdbg.hooks.own_files import is_machinery
from pyfuncdbg.hooks.patched_code import name_of
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.hosts.torch.host import TorchHost
from pyfuncdbg.hosts.torch.loader.loader_function import COLLATE, ITEM, LoaderFunction
from pyfuncdbg.hosts.torch.python_calls.nested_arguments import NestedArguments
from pyfuncdbg.hosts.torch.python_calls.nested_results import unfold
from pyfuncdbg.hosts.torch.python_calls.python_calls import PythonCalls
from pyfuncdbg.hosts.torch.python_calls.watched_function import WatchedFunction, program_function

_PARTS = ('dataset', 'datasets')
"""Attributes in which PyTorch's own datasets, such as `Subset` and `ConcatDataset`, hold those of the program."""


@transparent
class WatchedDataset:
    """A dataset of the program whose `__getitem__` and `__getitems__` are calls."""

    def __init__(self, dataset: Any, calls: PythonCalls, functions: LoaderFunctions) -> None:
        self._dataset = dataset
        self._calls = calls
        self._functions = functions
        self._item = functions.method(dataset, '__getitem__')

    def __getitem__(self, index: Any) -> Any:
        function = self._item
        return self._calls.make(function, function.function, (index,), {})

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._dataset, name)
        if name != '__getitems__' or not callable(value) or program_function(value) is None:
            return value
        function = self._functions.method(self._dataset, name)
        return lambda indices: self._calls.make(function, value, (indices,), {})

    def __len__(self) -> int:
        return len(self._dataset)


@transparent
class WatchedIterator:
    """An iterator of the program over a dataset, each of whose items is a call."""

    def __init__(self, iterator: Iterator[Any], calls: PythonCalls, function: LoaderFunction) -> None:
        self._iterator = iterator
        self._calls = calls
        self._function = function

    def __next__(self) -> Any:
        return self._calls.make(self._function, self._iterator.__next__, (), {})


class LoaderFunctions:
    """The functions of one dataset and its loader, as they are called.

    Args:
        host: Of the calls.
        calls: Makes them.
    """

    def __init__(self, host: TorchHost, calls: PythonCalls) -> None:
        self._host = host
        self._calls = calls
        self._methods: dict[tuple[int, str], tuple[Any, LoaderFunction]] = {}
        self._collate: tuple[Any, Any] = None, None

    def method(self, owner: Any, name: str) -> LoaderFunction:
        """A method of a dataset."""
        key = id(owner), name
        entry = self._methods.get(key)
        if entry is None:
            function = getattr(type(owner), name)
            bound = MethodType(function, owner) if isinstance(function, FunctionType) else getattr(owner, name)
            entry = self._methods[key] = owner, LoaderFunction(f'{type(owner).__name__}.{name}', ITEM, bound, self._host,
                                                               call_again=partial(_call_again, bound))
        return entry[1]

    def dataset(self, dataset: Any) -> Any:
        """What is fetched from in place of a dataset; the dataset itself where no function of the program is behind it."""
        kind = type(dataset)
        item = getattr(kind, '__getitem__', None)
        if item is None:
            return dataset
        if isinstance(item, FunctionType) and is_machinery(item.__code__.co_filename):
            return self._with_watched_parts(dataset)
        return WatchedDataset(dataset, self._calls, self) if program_function(item) is not None else dataset

    def _with_watched_parts(self, dataset: Any) -> Any:
        """A copy of a dataset of PyTorch's that reads from watched ones; the dataset itself if it reads from none."""
        members = getattr(dataset, '__dict__', {})
        watched = {name: self._watched_part(members[name]) for name in _PARTS if name in members}
        if all(watched[name] is members[name] for name in watched):
            return dataset
        copy = object.__new__(type(dataset))
        vars(copy).update(members, **watched)
        return copy

    def _watched_part(self, part: Any) -> Any:
        if type(part) in (list, tuple):
            watched = [self.dataset(one) for one in part]
            return part if all(map(_same, watched, part)) else type(part)(watched)
        if type(part) is dict:
            by_name = {name: self.dataset(one) for name, one in part.items()}
            return part if all(by_name[name] is part[name] for name in part) else by_name
        return self.dataset(part)

    def iterator(self, iterator: Any, dataset: Any) -> Any:
        """What is fetched from in place of an iterator; that itself where it is not the program's."""
        code = iterator.gi_code if isinstance(iterator, GeneratorType) else None
        if code is not None and is_machinery(code.co_filename):
            return iterator
        name = '__next__' if code is None else '__iter__'
        owner = iterator if code is None else dataset
        function: Any = getattr(type(owner), name, None)
        if program_function(function) is None:
            return iterator
        key = id(owner), name
        entry = self._methods.get(key)
        if entry is None:
            called = LoaderFunction(f'{type(owner).__name__}.{name}', ITEM, MethodType(function, owner), self._host,
                                    attrs={SOURCE: f'iterator of {type(dataset).__name__}'})
            entry = self._methods[key] = owner, called
        return WatchedIterator(iterator, self._calls, entry[1])

    def collate(self, function: Any) -> Any:
        """What collates in place of a function; that itself where it is not the program's."""
        if self._collate[0] is not function:
            self._collate = function, self.watched(function, COLLATE)
        return self._collate[1]

    def watched(self, function: Any, op_type: str) -> Any:
        """A function whose calls are seen; the function itself where it is not the program's."""
        inner = program_function(function)
        if inner is None:
            return function
        called = LoaderFunction(str(name_of(function) or inner.__name__), op_type, function, self._host,
                                call_again=partial(_call_again, function))
        return WatchedFunction(self._calls, called, function)


def _same(one: object, other: object) -> bool:
    return one is other


def _call_again(function: Callable[..., Any], layout: NestedArguments | None, inputs: list[Any]) -> Sequence[Any]:
    """Call a function past all hooks."""
    positional, keywords = layout.arguments(inputs) if layout is not None else (inputs, {})
    return unfold(function(*positional, **keywords))
