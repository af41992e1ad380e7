"""Identity of this process among the many of a program. Hosts and other adapters say it; any thread reads it."""
from __future__ import annotations

from collections.abc import Callable

names: list[str] = []
"""Environment variables by which frameworks number the processes of a program, beside those of launchers."""
label = ''
"""The label of this process where what runs it has named it: 'worker:3'. '' leaves it to environment variables."""
namers: list[Callable[[], None]] = []
"""Called where it is wanted and '': what runs this process may have its name only later, and sets it then."""
