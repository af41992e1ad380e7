"""Attaches to the TensorFlow that is imported, and takes everything back.

`pyfuncdbg.attach` calls it, or the import of TensorFlow under `pyfuncdbg run`; on the thread that does so.
"""
from __future__ import annotations

from pyfuncdbg.adapters.tensorflow import calls, runs
from pyfuncdbg.adapters.tensorflow.calls import Calls
from pyfuncdbg.adapters.tensorflow.causes import Causes
from pyfuncdbg.adapters.tensorflow.host import TensorFlowHost
from pyfuncdbg.adapters.tensorflow.parts import parts
from pyfuncdbg.adapters.tensorflow.patching import Patches
from pyfuncdbg.adapters.tensorflow.runs import Runs
from pyfuncdbg.adapters.tensorflow.stacks import OwnFrames, own_files


class TensorFlowAttachment:
    """What was put into TensorFlow.

    Raises:
        AttachError: TensorFlow is of another version or not whole; nothing was changed.
    """

    def __init__(self) -> None:
        found = parts()
        host = TensorFlowHost(found)
        going = Runs(host)
        causes = Causes()
        self._calls = Calls(found, host, causes, going)
        self._frames = OwnFrames(found.stacks, own_files(calls.__file__, runs.__file__))
        self._patches = Patches()
        try:
            causes.install(found, self._patches)
            self._calls.install(self._patches)
            going.install(found, self._patches)
            self._frames.install()
        except BaseException:
            self._patches.restore()
            raise

    def remove(self) -> None:
        """Put TensorFlow back as it was. Calls that are being made end as they began."""
        self._calls.on = False
        self._patches.restore()
        self._frames.remove()
        self._calls.sites.forget()
