"""The code that a function had before a debugger put tests into it.

Hosts ask where the identity of a function's code counts, such as for the place of an eager call; observers publish here
what they replace. Any thread.
"""
from __future__ import annotations

from types import CodeType

from pyfuncdbg.hooks.by_code import ByCode

_replaced = ByCode[CodeType]()


def publish(code: CodeType, original: CodeType) -> None:
    """`code` stands for `original` from now on, as long as it lives."""
    _replaced.put(code, original)


def original(code: CodeType) -> CodeType:
    """The code as the program made it."""
    return (_replaced.get(code) or code) if _replaced.entries else code
