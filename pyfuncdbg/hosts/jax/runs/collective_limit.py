"""Time limit of collectives: XLA ends the process when a device keeps others waiting for a minute.

A stop keeps them waiting. Where a debugger is there before JAX starts its backend, the limit is a day instead; else a stop
says so. A program that hangs by itself, as where one device's callback raises, hangs as long: that is said when it raises.
On the thread that starts the backend, and on those of calls.
"""
from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hooks.notice import say
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.jax.jax_parts import JaxParts

FLAG = '--xla_cpu_collective_call_terminate_timeout_seconds'
_WARNING_FLAG = '--xla_cpu_collective_call_warn_stuck_timeout_seconds'
_VARIABLE = 'XLA_FLAGS'
_LONG = 24 * 3600
"""Seconds, instead of the limit of XLA: a program that hangs in a collective ends after a day."""
_KNOWN_FROM = 0, 8
"""The first version of JAX whose XLA is known to have the flag: one that has not ends the process where it finds it."""
_HARMLESS = 24 * 3600
"""Seconds from which on a limit that the program has set is not worth a remark."""
_REMARK = 'the other devices may wait for this call in a collective: then XLA ends the process after {} s'
_ADVICE = f'. To stop longer, start it with {_VARIABLE}={FLAG}=N'
_HANGS = ('{} has raised on one of {} devices: if the others wait for it in a collective, the program hangs until '
          'Ctrl-\\ or kill ends it. Without stops XLA ends it after {} s, a limit that pyfuncdbg has lifted')


class CollectiveLimit:
    """The limit in this process."""

    def __init__(self, parts: JaxParts) -> None:
        self._parts = parts
        self._is_lifted = self._is_said = False

    def install(self, patches: Patches) -> None:
        """Replace the function by which JAX starts a backend."""
        bridge = self._parts.backends
        patches.replace(bridge, '_init_backend', self._replace_init(bridge._init_backend))

    def remark(self, devices: int) -> str:
        """What a stop in a callback says.

        Args:
            devices: Number of devices that execute its program.

        Returns:
            '' where there is nothing to fear.
        """
        if devices < 2 or self._is_lifted:
            return ''
        if self._parts.release < _KNOWN_FROM:
            return _REMARK.format(15)
        seconds = _limit()
        return _REMARK.format(seconds) + _ADVICE if seconds < _HARMLESS else ''

    def on_error(self, name: str, devices: int) -> None:
        """Say, once, that the program may hang, after the exception of a callback.

        Args:
            name: Of its site.
            devices: As in `remark`.
        """
        if devices > 1 and self._is_lifted and not self._is_said:
            self._is_said = True
            say(_HANGS.format(name, devices, _limit()))

    def _replace_init(self, original: Callable[[str], Any]) -> Callable[[str], Any]:
        def _init_backend(platform: str) -> Any:
            flags = os.environ.get(_VARIABLE)
            if hooks.passive or FLAG in (flags or '') or self._parts.release < _KNOWN_FROM:
                return original(platform)
            # XLA reads the variable now, and never again. The program does not see the change.
            os.environ[_VARIABLE] = f'{flags or ""} {FLAG}={_LONG}'.strip()
            try:
                backend = original(platform)
            finally:
                if flags is None:
                    os.environ.pop(_VARIABLE, None)
                else:
                    os.environ[_VARIABLE] = flags
            self._is_lifted = True
            return backend
        return _init_backend


def _limit() -> int:
    """The limit that the program has; XLA counts the second time from its warning on."""
    return _seconds(_WARNING_FLAG, 20) + _seconds(FLAG, 40)


def _seconds(flag: str, default: int) -> int:
    """What a flag of the program says; the last one counts."""
    values = re.findall(rf'{flag}=(\d+)', os.environ.get(_VARIABLE, ''))
    return int(values[-1]) if values else default
