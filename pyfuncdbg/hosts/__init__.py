"""Foreign hosts: frameworks that pyfuncdbg attaches to. Each is a package here; this is the list of them.

`pyfuncdbg.attach` and the command line call it, on the program's main thread mostly.
"""
from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from pyfuncdbg.errors import AttachError, nearest
from pyfuncdbg.hooks.facts import Fact
from pyfuncdbg.hooks.locks import new_rlock
from pyfuncdbg.hooks.own_files import declare_framework
from pyfuncdbg.hosts.framework_import import Watch
from pyfuncdbg.hosts.tensorflow.framework import FRAMEWORK

if TYPE_CHECKING:
    from pyfuncdbg.hooks.diagnosis import Doctor

ADAPTERS = {'tensorflow': ('pyfuncdbg.hosts.tensorflow.attachment', 'TensorFlowAttachment')}
"""Name of the framework's package; module and class of what attaches to it."""
declare_framework(FRAMEWORK)
DOCTORS = ('pyfuncdbg.hosts.tensorflow.doctor.doctor',)
"""Modules with a host's `DOCTOR`."""


class Installed(Protocol):
    """Installation of an adapter in its framework."""

    def remove(self) -> None:
        """Put the framework back as it was."""

    def facts(self) -> Iterable[Fact]:
        """Facts about the framework's own faults so far, if it was asked to look."""


class Attachment:
    """A framework whose wrapped functions are watched; at the end of a `with` block, no more.

    Attributes:
        name: Of the framework.
    """

    def __init__(self, name: str, examine: bool = False) -> None:
        self.name = name
        self._examine = examine
        self._installed: Installed | None = None
        self._watch: Watch | None = None
        self._known: list[Fact] = []

    @property
    def attached(self) -> bool:
        """Whether calls are seen now: False as long as the framework is not imported, and after `detach`."""
        return self._installed is not None

    def install(self) -> None:
        """Attach to the framework, which is imported.

        Raises:
            AttachError: It is of a version that is not supported, or not whole; it goes on as if nothing was asked.
        """
        if self._installed is None:
            module, kind = ADAPTERS[self.name]
            self._installed = getattr(importlib.import_module(module), kind)(examine=self._examine)

    def await_import(self) -> None:
        """Attach as soon as the program imports the framework."""
        self._watch = Watch(self.name, self._imported)
        self._watch.install()

    def _imported(self) -> None:
        self._watch = None
        try:
            self.install()
        except AttachError as error:
            from pyfuncdbg.hooks.notice import say
            say(f'{error}. It runs unwatched.')
            _attached.pop(self.name, None)

    def facts(self) -> list[Fact]:
        """Facts so far about the framework's own faults, under `pyfuncdbg doctor`."""
        if self._installed is not None:
            self._known = list(self._installed.facts())
        return self._known

    def detach(self) -> None:
        """Put the framework back exactly as it was; a second time does nothing."""
        with _lock:
            if _attached.get(self.name) is self:
                del _attached[self.name]
            watch, self._watch = self._watch, None
            installed, self._installed = self._installed, None
        if watch is not None:
            watch.remove()
        if installed is not None:
            self._known = list(installed.facts())
            installed.remove()

    def __enter__(self) -> Attachment:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.detach()

    def __repr__(self) -> str:
        state = 'attached' if self.attached else 'waits for its import' if self._watch is not None else 'detached'
        return f'<Attachment to {self.name}: {state}>'


_lock = new_rlock()
_attached: dict[str, Attachment] = {}
_examined: list[Attachment] = []
_told: set[str] = set()


def attach(name: str = 'tensorflow') -> Attachment:
    """Watch the wrapped functions of a framework: now, or from its import on. Attached twice it is attached once.

    Args:
        name: 'tensorflow'.

    Returns:
        What can `detach` it, or be used in a `with` block.

    Raises:
        AttachError: There is no adapter of that name, the framework is not installed, of a version that is not supported, or
            not whole. Nothing was changed.
    """
    if name not in ADAPTERS:
        raise AttachError(f'cannot attach to {name!r}: there is an adapter for {", ".join(map(repr, ADAPTERS))}.'
                          f'{nearest(str(name), ADAPTERS, 1)}')
    with _lock:
        known = _attached.get(name)
        if known is not None:
            return known
        made = Attachment(name)
        if name in sys.modules:
            if _loading(sys.modules[name]):
                made.await_import()
            else:
                made.install()
        elif _is_installed(name):
            made.await_import()
        else:
            raise AttachError(f"cannot attach to {name}: it is not installed. pip install 'pyfuncdbg[{name}]' installs it")
        _attached[name] = made
        return made


def await_imports(examine: bool = False) -> None:
    """Attach to every framework that the program comes to import; one that it never imports is never looked for.

    Args:
        examine: Look for its own faults too; `facts` tells them.
    """
    for name in ADAPTERS:
        with _lock:
            if name not in _attached and name not in sys.modules:
                made = _attached[name] = Attachment(name, examine)
                made.await_import()
                if examine:
                    _examined.append(made)


def facts() -> Iterator[Fact]:
    """Facts about the frameworks that are examined, also of one that the program has detached."""
    for made in _examined:
        yield from made.facts()


def doctors() -> list[Doctor]:
    """The doctors that judge the faults in a trace; no framework needs to be installed for that."""
    return [importlib.import_module(module).DOCTOR for module in DOCTORS]


def attach_all() -> list[Attachment]:
    """Attach to every framework that is imported, and await the others; what is new of that, so that it can be undone.

    One that cannot be attached to runs unwatched, and that is said.
    """
    before = set(_attached)
    for name in ADAPTERS:
        if name in sys.modules:
            try:
                attach(name)
            except AttachError as error:
                from pyfuncdbg.hooks.notice import say
                say(f'{error}. It runs unwatched.')
    await_imports()
    return [made for name, made in list(_attached.items()) if name not in before]


def tell_unattached() -> None:
    """Say once of each framework that is imported and not attached that its calls are not seen: a recording starts."""
    for name in ADAPTERS:
        if name in sys.modules and name not in _attached and name not in _told:
            _told.add(name)
            from pyfuncdbg.hooks.notice import say
            say(f'{name} is imported and not attached: its calls are not recorded. pyfuncdbg.attach({name!r}) before its '
                'functions are wrapped, or `pyfuncdbg run`, sees them')


def detach(name: str = 'tensorflow') -> None:
    """Put a framework back as it was; one that is not attached is left alone."""
    known = _attached.get(name)
    if known is not None:
        known.detach()


def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _loading(module: Any) -> bool:
    """Whether a module is being imported right now."""
    return bool(getattr(getattr(module, '__spec__', None), '_initializing', False))
