"""Environment variables by which frameworks number the processes of a program. Hosts add theirs; any thread reads them."""
from __future__ import annotations

names: list[str] = []
"""Beside those of launchers, which are no framework's."""
