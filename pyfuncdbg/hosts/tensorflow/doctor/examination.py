"""Examination of TensorFlow for `pyfuncdbg doctor`, installed with the attachment, gathered when the program ends."""
from __future__ import annotations

from collections.abc import Iterator

from pyfuncdbg.hooks.facts import Fact
from pyfuncdbg.hosts.tensorflow.doctor.witnesses import exports, failures, leaks, nodes, returns
from pyfuncdbg.hosts.tensorflow.doctor.witnesses.exports import Exports
from pyfuncdbg.hosts.tensorflow.doctor.witnesses.failures import Failures
from pyfuncdbg.hosts.tensorflow.doctor.witnesses.leaks import Leaks
from pyfuncdbg.hosts.tensorflow.doctor.witnesses.nodes import readable, watch_graphs
from pyfuncdbg.hosts.tensorflow.doctor.witnesses.returns import Returns
from pyfuncdbg.hosts.tensorflow.patching import Patches
from pyfuncdbg.hosts.tensorflow.python_calls.original_errors import Causes
from pyfuncdbg.hosts.tensorflow.python_calls.sites import Sites
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts

FILES = tuple(str(module.__file__) for module in (exports, failures, leaks, nodes, returns))
"""Whose frames are between the program's and TensorFlow's."""


class Examination:
    """The witnesses inside of TensorFlow."""

    def __init__(self, parts: TensorFlowParts, causes: Causes) -> None:
        self._version = parts.version
        entries = Leaks(parts)
        self._parts = (entries, Exports(parts, entries.place_of), Returns(parts), Failures(parts, causes))

    def install(self, patches: Patches, sites: Sites) -> None:
        """Take places in TensorFlow, on top of those of the attachment."""
        for part in self._parts:
            part.install(patches)
        watch_graphs(patches)
        sites.describe = readable

    def facts(self) -> Iterator[Fact]:
        """Everything that they know by now."""
        yield Fact('tensorflow', data={'version': self._version})
        for part in self._parts:
            yield from part.facts()
