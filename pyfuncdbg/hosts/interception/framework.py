"""Declaration of a framework that pyfuncdbg attaches to. Each host folder has one; `hosts` lists them."""
from __future__ import annotations

import importlib
from typing import Any, NamedTuple


class TensorCode(NamedTuple):
    """Code that makes tensors.

    Attributes:
        statement: Imports what makes them.
        make: Makes one of an array: 'tf.constant'.
        op_types: Of the calls whose functions get tensors, while others get arrays; none if all do.
    """

    statement: str
    make: str
    op_types: tuple[str, ...] = ()


class Framework(NamedTuple):                    # `import dataclasses` takes 5 ms
    """Names of a framework, of its files and classes, and of the modules of its host.

    Attributes:
        name: Of the package that a program imports; also of the host, of its folder in `hosts`, and of the extra that
            installs it.
        title: As its documentation writes it.
        packages: Folders of it in a `site-packages`, with '/': files there lie between a program and its functions.
        modules: How names of its modules begin.
        attachment: Module and class that installs the hooks, with a dot between.
        doctor: Module with the host's `DOCTOR`.
        results: Module with `RESULT_SOURCES` and `leaves`, for `pyfuncdbg verify`.
        tensor_code: How a generated test makes tensors for a function of the program.
        fuses_ops: Whether unwatched code computes several ops in one go, so that watched ops may differ in the last bits.
        called_kinds: Classes, with their modules, whose objects' calls are runs.
        generated: How names of files begin that it generates.
        rank_variables: Environment variables that tell a process which of many it is, beside those of launchers.
    """

    name: str
    title: str
    packages: tuple[str, ...]
    modules: tuple[str, ...]
    attachment: str
    doctor: str
    results: str
    tensor_code: TensorCode
    fuses_ops: bool
    called_kinds: tuple[str, ...] = ()
    generated: tuple[str, ...] = ()
    rank_variables: tuple[str, ...] = ()

    @property
    def folder(self) -> str:
        """Folder of the host in this package, with '/'."""
        return f'hosts/{self.name}'

    def load(self, dotted_name: str) -> Any:
        """Import an object of the host's, such as `attachment`."""
        module, _, name = dotted_name.rpartition('.')
        return getattr(importlib.import_module(module), name)
