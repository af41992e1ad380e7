"""Attaches to the TensorFlow that is imported, and takes everything back.

`pyfuncdbg.attach` calls it, or the import of TensorFlow under `pyfuncdbg run`; on the thread that does so.
"""
from __future__ import annotations

from collections.abc import Iterable

from pyfuncdbg.adapters.tensorflow import (
    calls,
    conversions,
    creation,
    custom,
    forward,
    observers,
    op_calls,
    refusals,
    runs,
    saving,
    steps,
    symbolic,
    tapes,
)
from pyfuncdbg.adapters.tensorflow.calls import Calls
from pyfuncdbg.adapters.tensorflow.causes import Causes
from pyfuncdbg.adapters.tensorflow.conversions import Conversions
from pyfuncdbg.adapters.tensorflow.custom import CustomGradients
from pyfuncdbg.adapters.tensorflow.ensured import Ensured
from pyfuncdbg.adapters.tensorflow.examination.examination import FILES, Examination
from pyfuncdbg.adapters.tensorflow.host import TensorFlowHost
from pyfuncdbg.adapters.tensorflow.op_calls import OpCalls
from pyfuncdbg.adapters.tensorflow.parts import parts
from pyfuncdbg.adapters.tensorflow.patching import Patches
from pyfuncdbg.adapters.tensorflow.runs import Runs
from pyfuncdbg.adapters.tensorflow.stacks import OwnFrames, own_files
from pyfuncdbg.adapters.tensorflow.tapes import Tapes
from pyfuncdbg.hooks import source_map
from pyfuncdbg.hooks.facts import Fact


class TensorFlowAttachment:
    """What was put into TensorFlow.

    Args:
        examine: Look for faults of TensorFlow's own too.

    Raises:
        AttachError: TensorFlow is of another version or not whole; nothing was changed.
    """

    def __init__(self, examine: bool = False) -> None:
        found = parts()
        source_map.install(Conversions())
        host = TensorFlowHost(found)
        going = self._runs = Runs(host)
        causes = Causes(Ensured(found))
        self._ops = OpCalls(found, host, going)
        self._calls = Calls(found, host, causes, going, self._ops)
        self._tapes = Tapes(found, host, self._calls.gradients, CustomGradients(found, host, self._calls.sites, going))
        files = [str(module.__file__) for module in (
            calls, conversions, creation, custom, forward, observers, op_calls, refusals, runs, saving, steps, symbolic,
            tapes)]
        self._frames = OwnFrames(found.stacks, own_files(*files, *(FILES if examine else ())))
        self._patches = Patches()
        self._examination = Examination(found, causes) if examine else None
        try:
            causes.install(found, self._patches)
            conversions.install(found, self._patches)
            creation.install(found, self._patches)
            saving.install(found, self._patches)
            self._calls.install(self._patches)
            going.install(found, self._patches, self._calls.sites)
            self._tapes.install(self._patches)
            self._ops.install(self._patches, self._calls.sites)
            self._frames.install()
            if self._examination is not None:
                self._examination.install(self._patches, self._calls.sites)
        except BaseException:
            self._calls.gradients.forget()
            self._ops.remove()
            self._tapes.remove()
            self._patches.restore()
            raise

    def facts(self) -> Iterable[Fact]:
        """What an examination has found by now."""
        return self._examination.facts() if self._examination is not None else ()

    def remove(self) -> None:
        """Put TensorFlow back as it was. Calls that are being made end as they began."""
        self._calls.on = False
        self._calls.gradients.forget()
        self._ops.remove()
        self._tapes.remove()
        self._patches.restore()
        self._frames.remove()
        self._runs.forget()
        self._calls.sites.forget()
