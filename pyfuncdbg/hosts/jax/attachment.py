"""Attachment to the imported JAX, which can be undone.

`pyfuncdbg.attach` makes it, or the import of JAX under `pyfuncdbg run`; on that thread. It does not start JAX's backend.
"""
from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import partial

from pyfuncdbg.hooks import op_names
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hooks.facts import Fact
from pyfuncdbg.hooks.host import HOSTS
from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.hosts.interception.patching import Patches, undo
from pyfuncdbg.hosts.jax.callbacks.callback_dispatch import CallbackDispatch
from pyfuncdbg.hosts.jax.callbacks.callback_errors import CallbackErrors
from pyfuncdbg.hosts.jax.callbacks.derivative_rules import DerivativeRules
from pyfuncdbg.hosts.jax.callbacks.hidden_frames import hide_own_frames
from pyfuncdbg.hosts.jax.callbacks.sites import CallbackSites
from pyfuncdbg.hosts.jax.callbacks.traced_breakpoints import TracedBreakpoints
from pyfuncdbg.hosts.jax.doctor.examination import JaxExamination
from pyfuncdbg.hosts.jax.graph_ops.eager_ops import EagerOps
from pyfuncdbg.hosts.jax.graph_ops.op_names import named_primitive
from pyfuncdbg.hosts.jax.graph_ops.program_ops import ProgramOps
from pyfuncdbg.hosts.jax.host import JaxHost
from pyfuncdbg.hosts.jax.jax_parts import JaxParts, parts
from pyfuncdbg.hosts.jax.programs.executables import Executables
from pyfuncdbg.hosts.jax.programs.lowerings import LoweredCallbacks
from pyfuncdbg.hosts.jax.runs.collective_limit import CollectiveLimit
from pyfuncdbg.hosts.jax.runs.dispatches import Dispatches


class JaxAttachment:
    """The installation of hooks in JAX.

    Args:
        examine: Look for faults of JAX's own, too.

    Raises:
        AttachError: JAX is of another version or not complete; nothing was changed.
    """

    def __init__(self, examine: bool = False) -> None:
        jax_parts = parts()
        host = JaxHost(jax_parts)
        errors = CallbackErrors(jax_parts)
        self._lowered = LoweredCallbacks(jax_parts)
        limit = CollectiveLimit(jax_parts)
        self._sites = CallbackSites(jax_parts, host, jax_parts.callback._FlatCallback.__call__, limit)
        self._executables = Executables(jax_parts, host, self._lowered, self._sites.of_lowered)
        self._runs = Dispatches(jax_parts, host, self._executables)
        self._calls = CallbackDispatch(jax_parts, self._lowered, self._sites, self._runs, errors, limit)
        self._rules = DerivativeRules(jax_parts, host, self._sites, self._runs.eager_runs)
        self._ops = ProgramOps(jax_parts, host, self._runs, self._sites.name_of_step)
        self._eager_ops = self._runs.eager_ops = EagerOps(jax_parts, host, self._executables, self._runs.eager_runs)
        self._lowered.rewrite = self._ops.observed
        self._breakpoints = TracedBreakpoints(jax_parts)
        self._patches, self._op_patches, self._lock = Patches(), Patches(), new_lock()
        self._end_subscription: Callable[[], None] = lambda: None
        self._examination = self._examine(jax_parts, errors) if examine else None
        try:
            errors.install(self._patches)
            self._lowered.install(self._patches)
            self._executables.install(self._patches)
            self._calls.install(self._patches)
            self._rules.install(self._patches)
            self._runs.install(self._patches)
            self._eager_ops.install(self._op_patches)
            if self._examination is not None:
                self._examination.install(self._patches, jax_parts)
            limit.install(self._patches)
            self._breakpoints.install()
            hide_own_frames(jax_parts)
            host.replay_site = self._sites.replay_site
            HOSTS[host.name] = host
            op_names.declare(host.name, partial(named_primitive, sys.modules['jax']))
            self._end_subscription = hooks.subscribe(self._follow_hooks)
            self._follow_hooks()
        except BaseException:
            undo(self._end_subscription, self._runs.remove, self._op_patches.restore, self._patches.restore)
            raise

    def _examine(self, jax_parts: JaxParts, errors: CallbackErrors) -> JaxExamination:
        """Make an examination that will see what JAX does."""
        examination = JaxExamination(jax_parts.version, self._lowered)
        self._lowered.on_lowered = examination.on_lowered
        errors.on_surfaced = examination.on_surfaced
        self._runs.examine(examination.on_called)
        return examination

    def _follow_hooks(self) -> None:
        """Have JAX's own functions where no hook asks for ours: of a dispatch by Python code of JAX they take 5 µs."""
        with self._lock:
            for patches, wanted in ((self._patches, hooks.python or hooks.run or hooks.op), (self._op_patches, hooks.op)):
                if wanted:
                    patches.resume()
                else:
                    patches.suspend()

    def facts(self) -> Iterable[Fact]:
        """Facts found by the examination so far."""
        return self._examination.facts() if self._examination is not None else ()

    def remove(self) -> None:
        """Put JAX back as it was. Calls under way end as they began."""
        self._calls.on = self._rules.on = self._ops.on = self._eager_ops.on = False
        self._breakpoints.remove()
        self._end_subscription()
        self._runs.remove()
        with self._lock:
            self._op_patches.restore()
            self._patches.restore()
        HOSTS.pop(JaxHost.name, None)
        op_names.withdraw(JaxHost.name)
        self._lowered.forget()
        self._executables.forget()
        self._sites.forget()
