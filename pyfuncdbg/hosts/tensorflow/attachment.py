"""Attachment to the imported TensorFlow, which can be undone.

`pyfuncdbg.attach` makes it, or the import of TensorFlow under `pyfuncdbg run`; on that thread.

Our frames, and those of the runner of `pyfuncdbg run`, are kept out of TensorFlow's stacks of nodes, which its messages
show.
"""
from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable
from typing import Any

from pyfuncdbg.hooks import source_map
from pyfuncdbg.hooks.facts import Fact
from pyfuncdbg.hooks.host import HOSTS
from pyfuncdbg.hooks.own_files import RUNNERS
from pyfuncdbg.hooks.transparent_frames import TRANSPARENT
from pyfuncdbg.hosts.interception.patching import Patches, undo
from pyfuncdbg.hosts.tensorflow import call_dispatch
from pyfuncdbg.hosts.tensorflow.call_dispatch import CallDispatch
from pyfuncdbg.hosts.tensorflow.doctor.examination import FILES, Examination
from pyfuncdbg.hosts.tensorflow.graph_ops import observer_ops, op_calls, waiting_ops
from pyfuncdbg.hosts.tensorflow.graph_ops.op_calls import OpCalls
from pyfuncdbg.hosts.tensorflow.host import TensorFlowHost
from pyfuncdbg.hosts.tensorflow.nodes import creation_stack
from pyfuncdbg.hosts.tensorflow.python_calls import autograph_source_map, refused_results
from pyfuncdbg.hosts.tensorflow.python_calls.autograph_source_map import AutographSourceMap
from pyfuncdbg.hosts.tensorflow.python_calls.ensured_shapes import EnsuredShapes
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
        self._ops = OpCalls(tf_parts, host, call_runs, causes)
        self._calls = CallDispatch(tf_parts, host, causes, call_runs, self._ops)
        self._tapes = TapeDispatch(tf_parts, host, self._calls.gradients,
                                   CustomGradients(tf_parts, host, self._calls.sites, call_runs))
        files = [str(module.__file__) for module in (
            autograph_source_map, backward_step, call_dispatch, creation_stack, custom_gradient, forward_log, gradient_tape,
            observer_ops, op_calls, refused_results, runs, symbolic_gradients, waiting_ops)]
        self._frames = OwnFrameFilter(tf_parts.stacks, own_files(*files, *(FILES if examine else ())))
        self._patches = Patches()
        self._examination = Examination(tf_parts, causes) if examine else None
        try:
            causes.install(tf_parts, self._patches)
            autograph_source_map.install(tf_parts, self._patches)
            creation_stack.install(tf_parts, self._patches)
            observer_ops.install(tf_parts, self._patches)
            self._calls.install(self._patches)
            call_runs.install(tf_parts, self._patches, self._calls.sites)
            self._tapes.install(self._patches)
            self._ops.install(self._patches, self._calls.sites)
            self._frames.install()
            host.replay_site = self._calls.sites.replay_site
            HOSTS[host.name] = host
            if self._examination is not None:
                self._examination.install(self._patches, self._calls.sites)
        except BaseException:
            undo(self._calls.gradients.forget, self._ops.remove, self._tapes.remove, self._patches.restore)
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
        HOSTS.pop(TensorFlowHost.name, None)
        self._calls.sites.forget()


class OwnFrameFilter:
    """TensorFlow's own filter of stacks, on every thread, with our files in it."""

    def __init__(self, stacks: Any, files: frozenset[str]) -> None:
        self._stacks: Any = stacks._source_filter_stacks
        self._files = files

        class Filter(stacks.StackTraceFilter):  # type: ignore[misc]
            """The outermost filter of a thread."""

            def __init__(self) -> None:
                super().__init__()
                self.internal_set.update_to(set(files))

            def get_filtered_filenames(self) -> frozenset[str]:
                return files

        self._filter: Any = Filter
        self._factory: Callable[[], Any] | None = None
        self._replaced_filters: dict[int, tuple[Any, Any]] = {}

    def install(self) -> None:
        """Install it; a thread that is inside of another filter keeps that."""
        self._factory = self._stacks.default_factory
        self._stacks[threading.get_ident()]     # makes that of this thread
        for thread, stack in list(self._stacks.items()):
            if len(stack) == 1:
                self._replaced_filters[thread] = stack[0], self._filter()
                stack[0] = self._replaced_filters[thread][1]
        self._stacks.default_factory = lambda: [self._filter()]

    def remove(self) -> None:
        """Put TensorFlow's filters back."""
        self._stacks.default_factory = self._factory
        for thread, stack in list(self._stacks.items()):
            if type(stack[0]) is self._filter:
                pair = self._replaced_filters.get(thread)
                stack[0] = pair[0] if pair is not None and self._factory is not None else self._factory()[0]  # type: ignore[misc]
        self._replaced_filters.clear()


def own_files(*files: str) -> frozenset[str]:
    """These files, and under `pyfuncdbg run` those of the frames that run the program."""
    names: list[str] = list(files)
    frame = sys._getframe(1)
    runs = False
    while frame is not None:
        runs = runs or frame.f_code in RUNNERS
        if runs:
            names.append(frame.f_code.co_filename)
        frame = frame.f_back  # type: ignore[assignment]
    return frozenset((*names, *(name + TRANSPARENT for name in names)))
