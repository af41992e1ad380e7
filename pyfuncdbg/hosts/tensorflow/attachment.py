"""Attachment to the imported TensorFlow, which can be undone.

`pyfuncdbg.attach` makes it, or the import of TensorFlow under `pyfuncdbg run`; on that thread.
"""
from __future__ import annotations

from collections.abc import Iterable

from pyfuncdbg.hooks import source_map
from pyfuncdbg.hooks.facts import Fact
from pyfuncdbg.hosts.tensorflow import call_dispatch
from pyfuncdbg.hosts.tensorflow.call_dispatch import CallDispatch
from pyfuncdbg.hosts.tensorflow.doctor.examination import FILES, Examination
from pyfuncdbg.hosts.tensorflow.graph_ops import observer_ops, op_calls, saved_model
from pyfuncdbg.hosts.tensorflow.graph_ops.op_calls import OpCalls
from pyfuncdbg.hosts.tensorflow.host import TensorFlowHost
from pyfuncdbg.hosts.tensorflow.nodes import creation_stack
from pyfuncdbg.hosts.tensorflow.patching import Patches
from pyfuncdbg.hosts.tensorflow.python_calls import autograph_source_map, refused_results
from pyfuncdbg.hosts.tensorflow.python_calls.autograph_source_map import AutographSourceMap
from pyfuncdbg.hosts.tensorflow.python_calls.ensured_shapes import EnsuredShapes
from pyfuncdbg.hosts.tensorflow.python_calls.hidden_frames import OwnFrameFilter, own_files
from pyfuncdbg.hosts.tensorflow.python_calls.original_errors import ErrorCauses
from pyfuncdbg.hosts.tensorflow.sessions import runs
from pyfuncdbg.hosts.tensorflow.sessions.runs import Runs
from pyfuncdbg.hosts.tensorflow.tapes import backward_step, custom_gradient, forward_log, gradient_tape, symbolic_gradients
from pyfuncdbg.hosts.tensorflow.tapes.custom_gradient import CustomGradients
from pyfuncdbg.hosts.tensorflow.tapes.gradient_tape import TapeDispatch
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import parts


class TensorFlowAttachment:
    """The installation of hooks in TensorFlow.

    Args:
        examine: Look for faults of TensorFlow's own, too.

    Raises:
        AttachError: TensorFlow is of another version or not complete; nothing was changed.
    """

    def __init__(self, examine: bool = False) -> None:
        tf_parts = parts()
        source_map.install(AutographSourceMap())
        host = TensorFlowHost(tf_parts)
        call_runs = self._runs = Runs(host)
        causes = ErrorCauses(EnsuredShapes(tf_parts))
        self._ops = OpCalls(tf_parts, host, call_runs)
        self._calls = CallDispatch(tf_parts, host, causes, call_runs, self._ops)
        self._tapes = TapeDispatch(tf_parts, host, self._calls.gradients,
                                   CustomGradients(tf_parts, host, self._calls.sites, call_runs))
        files = [str(module.__file__) for module in (
            autograph_source_map, backward_step, call_dispatch, creation_stack, custom_gradient, forward_log, gradient_tape,
            observer_ops, op_calls, refused_results, runs, saved_model, symbolic_gradients)]
        self._frames = OwnFrameFilter(tf_parts.stacks, own_files(*files, *(FILES if examine else ())))
        self._patches = Patches()
        self._examination = Examination(tf_parts, causes) if examine else None
        try:
            causes.install(tf_parts, self._patches)
            autograph_source_map.install(tf_parts, self._patches)
            creation_stack.install(tf_parts, self._patches)
            saved_model.install(tf_parts, self._patches)
            self._calls.install(self._patches)
            call_runs.install(tf_parts, self._patches, self._calls.sites)
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
        """Facts found by the examination so far."""
        return self._examination.facts() if self._examination is not None else ()

    def remove(self) -> None:
        """Put TensorFlow back as it was. Calls under way end as they began."""
        self._calls.on = False
        self._calls.gradients.forget()
        self._ops.remove()
        self._tapes.remove()
        self._patches.restore()
        self._frames.remove()
        self._runs.forget()
        self._calls.sites.forget()
