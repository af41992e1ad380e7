"""Foreign hosts: frameworks that pyfuncdbg attaches to. Each is a package here; this is the list of them.

`pyfuncdbg.attach` and the command line call it, on the program's main thread mostly.
"""
from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from pyfuncdbg.errors import AttachError, nearest
from pyfuncdbg.hooks import process_invitations, rank_variables
from pyfuncdbg.hooks.import_watch import ImportWatch
from pyfuncdbg.hooks.locks import new_rlock
from pyfuncdbg.hooks.own_files import declare_framework
from pyfuncdbg.hooks.process_invitations import Invitation
from pyfuncdbg.hosts.jax.framework import FRAMEWORK as JAX
from pyfuncdbg.hosts.tensorflow.framework import FRAMEWORK as TENSORFLOW
from pyfuncdbg.hosts.torch.framework import FRAMEWORK as TORCH

if TYPE_CHECKING:
    from pyfuncdbg.hooks.diagnosis import Doctor
    from pyfuncdbg.hooks.facts import Fact

FRAMEWORKS = {framework.name: framework for framework in (TENSORFLOW, TORCH, JAX)}
"""What pyfuncdbg attaches to, by name of the framework's package."""
for _framework in FRAMEWORKS.values():
    declare_framework(_framework.packages, _framework.modules, _framework.folder, _framework.generated)
    rank_variables.names += _framework.rank_variables


class Installed(Protocol):
    """Installation of hooks in a framework."""

    def remove(self) -> None:
        """Put the framework back as it was."""

    def facts(self) -> Iterable[Fact]:
        """Facts about the framework's own faults so far, if it is examined."""


class Attachment:
    """A framework whose wrapped functions are watched, until `detach` or the end of a `with` block.

    Attributes:
        name: Of the framework.
    """

    def __init__(self, name: str, examine: bool = False) -> None:
        self.name = name
        self._examine = examine
        self._installed: Installed | None = None
        self._watch: ImportWatch | None = None
        self._last_facts: list[Fact] = []

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
            framework = FRAMEWORKS[self.name]
            try:
                self._installed = framework.load(framework.attachment)(examine=self._examine)
            except AttachError:
                raise
            except Exception as error:          # of a version that has all names and uses them in other ways
                version = getattr(sys.modules.get(self.name), '__version__', 'of no version')
                raise AttachError(f'{self.name} {version} cannot be watched: {type(error).__name__}: {error}') from error

    def await_import(self) -> None:
        """Attach as soon as the program imports the framework."""
        self._watch = ImportWatch(self.name, self.on_import)
        self._watch.install()

    def on_import(self) -> None:
        """Attach to the framework, whose import has ended; a notice says why that cannot be."""
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
            self._last_facts = list(self._installed.facts())
        return self._last_facts

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
            self._last_facts = list(installed.facts())
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
_notified: set[str] = set()


def attach(name: str) -> Attachment:
    """Watch the wrapped functions of a framework, now or from its import on. Attached twice, it is attached once.

    Args:
        name: Of its package: 'tensorflow'.

    Returns:
        An object with `detach`, which can be used in a `with` block.

    Raises:
        AttachError: The name is unknown, or the framework is not installed, not complete or of a version that is not
            supported. Nothing was changed.
    """
    return _attach(name, examine=False)


def _attach(name: str, examine: bool) -> Attachment:
    if name not in FRAMEWORKS:
        raise AttachError(f'cannot attach to {name!r}: expected {" or ".join(map(repr, FRAMEWORKS))}.'
                          f'{nearest(str(name), FRAMEWORKS, 1)}')
    with _lock:
        attachment_before = _attached.get(name)
        if attachment_before is not None:
            return attachment_before
        attachment = Attachment(name, examine)
        if name in sys.modules:
            if _is_being_imported(sys.modules[name]):
                attachment.await_import()
            else:
                attachment.install()
        elif _is_installed(name):
            attachment.await_import()
        else:
            raise AttachError(f"cannot attach to {name}: it is not installed. pip install 'pyfuncdbg[{name}]' installs it")
        _attached[name] = attachment
        if examine:
            _examined.append(attachment)
        return attachment


def attach_to_framework(value: object) -> None:
    """Attach to the imported framework that an object is of, if it is of one.

    Args:
        value: Such as a session.

    Raises:
        AttachError: As `attach`.
    """
    name = type(value).__module__.partition('.')[0]
    if name in sys.modules and name in FRAMEWORKS:
        attach(name)


def attach_if_calls_are_runs(value: object) -> bool:
    """Attach to the framework in which the calls of an object are runs.

    Args:
        value: Such as a module of PyTorch's.

    Returns:
        Whether they are.

    Raises:
        AttachError: As `attach`.
    """
    kinds = {f'{kind.__module__}.{kind.__qualname__}' for kind in type(value).__mro__}
    for framework in FRAMEWORKS.values():
        if not kinds.isdisjoint(framework.called_kinds):
            attach(framework.name)
            return True
    return False


def await_imports(examine: bool = False, names: Iterable[str] = tuple(FRAMEWORKS)) -> None:
    """Attach to every framework that the program imports later.

    Args:
        examine: Look for faults of the framework's own, too; `facts` lists them.
        names: Of the packages of the frameworks.
    """
    for name in names:
        with _lock:
            if name not in _attached and name not in sys.modules:
                attachment = _attached[name] = Attachment(name, examine)
                attachment.await_import()
                if examine:
                    _examined.append(attachment)


def attach_as(frameworks: Mapping[str, bool]) -> None:
    """Attach to the frameworks that the process which has started this one is attached to, now or when they are imported.

    Args:
        frameworks: By name of their packages, whether faults of theirs are looked for.

    Raises:
        AttachError: One is not complete, or of a version that is not supported.
    """
    for name, examine in frameworks.items():
        if name in sys.modules:
            _attach(name, examine)
        else:
            await_imports(examine, (name,))


def attach_on_import(name: str) -> None:
    """Attach to a framework whose import ends now, and await the imports of the others.

    Args:
        name: Of its package, or another module's.
    """
    if name in FRAMEWORKS and name not in _attached:
        attachment = _attached[name] = Attachment(name)
        attachment.on_import()
    attach_all()


def _invitation() -> Invitation | None:
    """What a process that starts now needs to attach to the same frameworks."""
    frameworks = {name: attachment in _examined for name, attachment in _attached.items()}
    return Invitation(__name__, 'attach_as', {'frameworks': frameworks}) if frameworks else None


process_invitations.offer(_invitation)


def facts() -> Iterator[Fact]:
    """Facts about the examined frameworks, also after the program has detached one."""
    for attachment in _examined:
        yield from attachment.facts()


def doctors() -> list[Doctor]:
    """The doctors that judge the faults in a trace; they need no framework."""
    return [framework.load(framework.doctor) for framework in FRAMEWORKS.values()]


def attach_all() -> list[Attachment]:
    """Attach to every imported framework, and await the others; the new attachments.

    A framework that cannot be attached to runs unwatched, after a notice.
    """
    earlier = set(_attached)
    for name in FRAMEWORKS:
        if name in sys.modules:
            try:
                attach(name)
            except AttachError as error:
                from pyfuncdbg.hooks.notice import say
                say(f'{error}. It runs unwatched.')
    await_imports()
    return [attachment for name, attachment in list(_attached.items()) if name not in earlier]


def notify_unattached() -> None:
    """Write a notice, once per framework, that calls of an imported, unattached framework are not recorded."""
    for name in FRAMEWORKS:
        if name in sys.modules and name not in _attached and name not in _notified:
            _notified.add(name)
            from pyfuncdbg.hooks.notice import say
            say(f'{name} is imported and not attached: its calls are not recorded. pyfuncdbg.attach({name!r}) before its '
                'functions are wrapped, or `pyfuncdbg run`, sees them')


def detach(name: str) -> None:
    """Put a framework back as it was; one that is not attached is ignored."""
    attachment = _attached.get(name)
    if attachment is not None:
        attachment.detach()


def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _is_being_imported(module: Any) -> bool:
    """Whether a module is being imported right now."""
    return bool(getattr(getattr(module, '__spec__', None), '_initializing', False))
