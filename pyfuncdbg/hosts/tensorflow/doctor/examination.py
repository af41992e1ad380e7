"""Examination of TensorFlow for `pyfuncdbg doctor`, installed with the attachment, gathered when the program ends."""
from __future__ import annotations

from collections.abc import Iterator

from pyfuncdbg.hooks.facts import Fact
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.tensorflow.doctor.witnesses import exports, failures, leaks, nodes, returns
from pyfuncdbg.hosts.tensorflow.doctor.witnesses.exports import Exports
from pyfuncdbg.hosts.tensorflow.doctor.witnesses.failures import Failures
from pyfuncdbg.hosts.tensorflow.doctor.witnesses.leaks import Leaks
from pyfuncdbg.hosts.tensorflow.doctor.witnesses.nodes import fact_reader, watch_graphs
from pyfuncdbg.hosts.tensorflow.doctor.witnesses.returns import Returns
from pyfuncdbg.hosts.tensorflow.python_calls.original_errors import ErrorCauses
from pyfuncdbg.hosts.tensorflow.python_calls.sites import Sites
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts

FILES = tuple(str(module.__file__) for module in (exports, failures, leaks, nodes, returns))
"""Files with frames between the program's and TensorFlow's."""


class Examination:
    """The witnesses inside of TensorFlow."""

    def __init__(self, parts: TensorFlowParts, causes: ErrorCauses) -> None:
        self._version = parts.version
        entries = Leaks(parts)
        self._parts = (entries, Exports(parts, entries.place_of), Returns(parts), Failures(parts, causes))

    def install(self, patches: Patches, sites: Sites) -> None:
        """Install the witnesses, on top of the attachment's patches."""
        for part in self._parts:
            part.install(patches)
        watch_graphs(patches)
        sites.describe = fact_reader

    def facts(self) -> Iterator[Fact]:
        """All facts so far."""
        yield Fact('tensorflow', data={'version': self._version})
        for part in self._parts:
            yield from part.facts()
