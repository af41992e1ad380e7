"""Attachment to the imported PyTorch, which can be undone.

`pyfuncdbg.attach` makes it, or the import of PyTorch under `pyfuncdbg run`; on that thread.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable

from pyfuncdbg.hooks import op_names
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hooks.facts import Fact
from pyfuncdbg.hooks.host import HOSTS
from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.hosts.interception.patching import Patches, undo
from pyfuncdbg.hosts.torch.doctor.examination import TorchExamination
from pyfuncdbg.hosts.torch.graph_ops.op_calls import DispatchedOps
from pyfuncdbg.hosts.torch.graph_ops.op_modes import OpModes
from pyfuncdbg.hosts.torch.graph_ops.op_names import TorchOpNames
from pyfuncdbg.hosts.torch.graph_ops.op_sites import OpSites
from pyfuncdbg.hosts.torch.host import TorchHost
from pyfuncdbg.hosts.torch.loader.batch_fetches import BatchFetches
from pyfuncdbg.hosts.torch.loader.worker_loop import WorkerLoop
from pyfuncdbg.hosts.torch.module_runs import ModuleRuns
from pyfuncdbg.hosts.torch.python_calls.autograd_functions import AutogradFunctions
from pyfuncdbg.hosts.torch.python_calls.backward_functions import BackwardFunctions
from pyfuncdbg.hosts.torch.python_calls.custom_ops import CustomOps
from pyfuncdbg.hosts.torch.python_calls.earlier_kernels import EarlierKernels
from pyfuncdbg.hosts.torch.python_calls.gradient_links import GradientLinks
from pyfuncdbg.hosts.torch.python_calls.library_kernels import LibraryKernels
from pyfuncdbg.hosts.torch.python_calls.program_hooks import ProgramHooks
from pyfuncdbg.hosts.torch.python_calls.python_calls import PythonCalls
from pyfuncdbg.hosts.torch.python_calls.replay_site import install_replay
from pyfuncdbg.hosts.torch.tapes.backward_passes import BackwardPasses
from pyfuncdbg.hosts.torch.thread_runs import ThreadRuns
from pyfuncdbg.hosts.torch.torch_parts import parts


class TorchAttachment:
    """The installation of hooks in PyTorch.

    Args:
        examine: Look for faults of PyTorch's own, too.

    Raises:
        AttachError: PyTorch is of another version or not complete; nothing was changed.
    """

    def __init__(self, examine: bool = False) -> None:
        torch_parts = parts()
        host = TorchHost(torch_parts)
        runs = ThreadRuns(host, torch_parts.native._current_graph_task_id)
        self._calls = PythonCalls(torch_parts, runs)
        self._examination = self._calls.examination = TorchExamination(torch_parts) if examine else None
        links = GradientLinks(torch_parts.native.DisableTorchFunction)
        self._ops = CustomOps(torch_parts, host, self._calls, links)
        self._passes = BackwardPasses(torch_parts, host, self._calls, runs)
        self._dispatched_ops = DispatchedOps(torch_parts, self._calls, runs, OpSites(torch_parts, self._passes.leaves, runs))
        self._op_modes = OpModes(torch_parts, self._calls, self._dispatched_ops)
        self._calls.enter_op_mode = self._op_modes.enter
        self._program_hooks = ProgramHooks(torch_parts, host, self._calls)
        self._earlier_kernels = EarlierKernels(torch_parts, host, self._calls, links)
        self._patches, self._lock = Patches(), new_lock()
        self._end_subscription: Callable[[], None] = lambda: None
        try:
            self._ops.install(self._patches)
            LibraryKernels(torch_parts, host, self._calls, links).install(self._patches)
            AutogradFunctions(torch_parts, host, self._calls, links).install(self._patches)
            BackwardFunctions(torch_parts, host, self._calls, runs).install(self._patches)
            self._passes.install(self._patches)
            ModuleRuns(torch_parts, host, self._calls, runs, self._begin_on_thread).install(self._patches)
            self._passes.forward.enter()
            self._end_subscription = hooks.subscribe(self._follow_hooks)
            self._program_hooks.install(self._patches)
            self._earlier_kernels.install()
            BatchFetches(torch_parts, host, self._calls).install(self._patches)
            self._op_modes.install(self._patches)
            if self._examination is not None:
                self._examination.install(self._patches)
            WorkerLoop(torch_parts.workers._worker_loop, host, self._calls, runs).install(self._patches, torch_parts)
            install_replay(torch_parts, host)
            HOSTS[host.name] = host
            op_names.declare(host.name, TorchOpNames(torch_parts, self._op_modes.available))
            self._follow_hooks()
        except BaseException:
            undo(self._ops.remove, self._program_hooks.remove, self._earlier_kernels.remove, self._end_subscription,
                 self._leave_modes, self._patches.restore)
            raise

    def _begin_on_thread(self) -> None:
        """Enter our modes on this thread, where hooks want what they see."""
        self._passes.forward.enter()
        self._op_modes.enter()

    def _follow_hooks(self) -> None:
        with self._lock:
            if hooks.run or hooks.python or hooks.op or hooks.gradient:
                self._patches.resume()
            else:                               # of a training step of 90 µs they take 5
                self._patches.suspend()
        self._passes.forward.follow_hooks()
        self._op_modes.follow_hooks()

    def _leave_modes(self) -> None:
        self._passes.forward.leave()
        self._op_modes.leave()

    def facts(self) -> Iterable[Fact]:
        """Facts found by the examination so far."""
        return self._examination.facts() if self._examination is not None else ()

    def remove(self) -> None:
        """Put PyTorch back as it was. Calls under way end as they began."""
        self._calls.on = self._passes.forward.on = self._dispatched_ops.on = False
        self._end_subscription()
        self._leave_modes()
        self._ops.remove()
        self._program_hooks.remove()
        self._earlier_kernels.remove()
        with self._lock:
            self._patches.restore()
        HOSTS.pop(TorchHost.name, None)
        op_names.withdraw(TorchHost.name)
