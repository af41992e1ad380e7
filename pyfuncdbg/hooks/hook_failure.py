"""Failure of a hook: one notice, the hook is switched off, and the program goes on.

A hook's error is never the program's, unless a signal handler of the program has raised it there.
"""
from __future__ import annotations

import traceback

from pyfuncdbg.hooks.call import Call
from pyfuncdbg.hooks.installed_hooks import Hook, hooks
from pyfuncdbg.hooks.notice import say
from pyfuncdbg.hooks.signal_handlers import raise_program_error


def switch_off(hook: Hook, call: Call, error: Exception) -> None:
    """Remove a hook that failed, with one notice.

    Args:
        hook: The hook.
        call: The call in which it failed.
        error: Its exception.

    Raises:
        Exception: `error`, where a signal handler of the program has raised it.
    """
    raise_program_error(error)
    if hooks.remove_failed(hook):
        report_failure(f'{type(hook).__name__} failed at call #{call.id} of {call.site.name!r} and is switched off', error)


def report_failure(failure: str, error: Exception) -> None:
    """Tell the user of a mistake in watching code, where the program's own output is not disturbed.

    Args:
        failure: Subject and verb of the message.
        error: The exception.

    Raises:
        Exception: `error`, where a signal handler of the program has raised it.
    """
    raise_program_error(error)
    reason = ''.join(traceback.format_exception_only(error)).strip()
    say(f'{failure}: {reason}. The program continues unchanged.')
