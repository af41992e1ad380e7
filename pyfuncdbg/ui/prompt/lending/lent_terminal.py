"""The inspector as a front end: while a thread is stopped the program lends its terminal to the inspector's process.

`interact` runs on the stopped thread, which does what the inspector asks for. The process lives on between stops, so that
its screens stay; when it dies, stops go to the prompt.
"""
from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
from collections.abc import Callable, Sequence

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.notice import say
from pyfuncdbg.observers.debug.stops.broker import Broker, FrontEnd
from pyfuncdbg.observers.debug.stops.stop import STOPS_AGAIN, Stop
from pyfuncdbg.ui.prompt.front_ends.terminal import device_of
from pyfuncdbg.ui.prompt.lending.held_output import HeldOutput
from pyfuncdbg.ui.prompt.lending.inspector_process import InspectorProcess
from pyfuncdbg.ui.prompt.pending_commands import PendingCommands
from pyfuncdbg.ui.prompt.terminal_io.conversation import Conversation
from pyfuncdbg.ui.prompt.terminal_io.ctrl_c import asking
from pyfuncdbg.ui.prompt.terminal_io.screen import Screen
from pyfuncdbg.ui.prompt.terminal_io.terminal_guard import guard_of
from pyfuncdbg.ui.prompt.terminal_io.terminal_lock import turn
from pyfuncdbg.ui.prompt.terminal_io.terminal_modes import LEAVE_SCREEN, TerminalModes, lacks_cursor_control

LEAST = 80, 24
"""Columns and rows that a terminal needs."""
_BETWEEN = 0.5
"""Seconds that the terminal stays lent between two threads that wait."""
_STEP = 0.3
"""Seconds that the screen stays during a step, so that it does not flicker. The keys are the program's all the same."""
_INSIDE = frozenset(('before', 'call', 'line', 'exception', 'node'))
"""Where a step is followed by another stop soon; after all others the program may be at a prompt of its own."""


class LentTerminal:
    """The inspector on the terminal on which the program was started.

    Args:
        conversation, pending: Of the prompt: for commands that are carried out before the prompt.
        broker: Whether the user wants the inspector, or whatever fits.
        elsewhere: Front ends that are used instead of the terminal where they are usable.
    """

    name = 'inspector'
    priority = 200

    def __init__(self, conversation: Conversation, pending: PendingCommands, broker: Broker,
                 elsewhere: Sequence[FrontEnd]) -> None:
        self._conversation = conversation
        self._pending = pending
        self._broker = broker
        self._elsewhere = elsewhere
        self._device = device_of(0)
        self._lock = threading.RLock()
        self._forget()
        os.register_at_fork(after_in_child=self._forked)
        atexit.register(self._end)

    def _forget(self) -> None:
        self._terminal = -1
        self._lease: _Lease | None = None
        self._inspector: InspectorProcess | None = None
        self._output: HeldOutput | None = None
        self._stop: Stop | None = None
        self._failed = False

    # ------------------------------------------------------------------ any thread
    def usable(self) -> bool:
        if not self._device or self._failed or lacks_cursor_control():
            return False
        try:
            if self._broker.front_end_name == 'auto' and (_in_ipython() or any(other.usable() for other in self._elsewhere)):
                return False
            return os.tcgetpgrp(self._opened()) == os.getpgrp() and (self._lease is not None or self._fits())
        except OSError:
            return False

    def why_not(self) -> str:
        """The reason why it is of no use on this terminal, '' if it is."""
        if self.usable():
            return ''
        if self._failed:
            return 'it has failed before'
        if not self._device:
            return 'stdin is not a terminal'
        if lacks_cursor_control():
            return f'TERM={os.environ.get("TERM", "")} is a terminal without a screen'
        if not self._fits():
            return f'the terminal is smaller than {LEAST[0]} columns and {LEAST[1]} rows'
        return 'the program is in the background'

    def forgive(self) -> None:
        """Try again, whatever has failed before."""
        self._failed = False

    def prepare(self) -> None:
        """A stop is to come soon: start the inspector, which takes a second."""
        with self._lock:
            if self._inspector is None and self.usable() and self._broker.front_end() is self:
                with contextlib.suppress(CommandError, OSError, RuntimeError):      # reported at the stop, which tries again
                    self._start()

    # ------------------------------------------------------------------ the stopped thread
    def interact(self, stop: Stop, broker: Broker) -> None:
        with asking():
            self._carry_out_pending(stop, broker)
            if stop.decision is not None or broker.focus is not stop:
                return
            inspector = self._lend(stop, broker)
            if inspector is None:
                return
            try:
                self._serve(stop, broker, inspector)
            finally:
                self._after(stop, broker, inspector)

    def _carry_out_pending(self, stop: Stop, broker: Broker) -> None:
        """Commands of a file come first, and answer on the terminal."""
        if self._pending:
            screen = Screen(self._opened())
            while stop.decision is None and broker.focus is stop and (typed := self._pending.take()) is not None:
                self._conversation.carry_out(typed, stop, screen)

    def _lend(self, stop: Stop, broker: Broker) -> InspectorProcess | None:
        """Lend the terminal, unless it still is; None if that cannot be, or is not wanted any more."""
        with self._lock:
            self._stop = stop
            if self._lease is not None and self._inspector is not None:
                self._lease.go_on()
                return self._inspector
        terminal = self._opened()

        def is_wanted() -> bool:
            return stop.decision is None and broker.focus is stop and self.usable()
        lease_stack = contextlib.ExitStack()
        # Nothing is said while another process has the terminal: it may be on the screen of that one's inspector.
        if not lease_stack.enter_context(turn(terminal, lambda text: None, is_wanted)):
            lease_stack.close()
            return None
        try:
            with self._lock:
                output, inspector = self._start()
            self._lease = _Lease(terminal, inspector, output, lease_stack, self._overdue)
        except (CommandError, OSError, RuntimeError) as error:          # no room for a process, a thread or a file
            if self._output is not None:
                self._output.release()
            lease_stack.close()
            self._give_up(broker, f'{error}')
            return None
        return inspector

    def _start(self) -> tuple[HeldOutput, InspectorProcess]:
        """The process, started if it is not there."""
        if self._output is None:
            self._output = HeldOutput(self._opened())
        if self._inspector is None:
            self._inspector = InspectorProcess(self._opened(), self._output, guard_of(self._opened()))
            self._inspector.changed = self._wake
        return self._output, self._inspector

    def _serve(self, stop: Stop, broker: Broker, inspector: InspectorProcess) -> None:
        from pyfuncdbg.ui.commands.socket.remote import carry_out_logged, describe_stop  # for who has the inspector
        carry_out_logged(stop, lambda text: inspector.tell({'event': 'log', 'text': text}))
        if stop.decision is not None:
            return
        inspector.tell({'event': 'stopped', 'stop': describe_stop(stop)})
        while stop.decision is None and broker.focus is stop and not inspector.gone:
            with contextlib.suppress(KeyboardInterrupt):        # Ctrl-C is a key of the inspector; it comes from elsewhere
                stop.serve()
        if stop.decision is None and inspector.left:
            with contextlib.suppress(CommandError):             # decided by another thread
                stop.decide('quit')

    def _after(self, stop: Stop, broker: Broker, inspector: InspectorProcess) -> None:
        """Take the terminal back, unless another thread waits for the user, or the next stop is a step away."""
        verb = stop.decision.verb if stop.decision is not None else ''
        if verb:
            inspector.tell({'event': 'resumed', 'stop': stop.number, 'verb': verb, 'by': inspector.number})
        others = any(one is not stop and one.decision is None for one in broker.stops)
        stepping = verb in STOPS_AGAIN and stop.phase in _INSIDE
        with self._lock:
            self._stop = None
            if (others or stepping) and verb != 'quit' and not inspector.gone and self._lease is not None:
                self._lease.pause(relaxed=not others)
                return
        self._take_back()
        if inspector.gone and not inspector.left:
            self._give_up(broker, inspector.reason or 'its process has ended')
        elif verb == 'quit':
            self._end()                         # it may not be needed again

    def _give_up(self, broker: Broker, reason: str) -> None:
        self._failed = True
        broker.remove(self)
        say(f'the inspector is gone, the prompt replaces it: {reason}')

    # ------------------------------------------------------------------ other threads
    def _wake(self) -> None:
        """The inspector has ended."""
        stop = self._stop
        if stop is not None:
            stop.wake()

    def _overdue(self) -> None:
        """No other thread has come to the inspector."""
        with self._lock:
            if self._stop is None:
                self._take_back()

    def _take_back(self) -> None:
        with self._lock:
            lease, self._lease = self._lease, None
            if lease is not None:
                lease.end()
            if self._inspector is not None and self._inspector.gone:
                self._inspector = None

    def _end(self) -> None:
        """The program ends, perhaps while a thread of its waits; or debugging is over."""
        self._take_back()
        inspector, self._inspector = self._inspector, None
        if inspector is not None:
            inspector.end()

    def _forked(self) -> None:
        """In a forked child: all of it is the parent's."""
        for one in (self._output, self._inspector):
            if one is not None:
                one.forget()
        self._lock = threading.RLock()
        self._forget()

    def _opened(self) -> int:
        """A descriptor of our own: the program may close or redirect its streams."""
        if self._terminal < 0:
            self._terminal = os.open(self._device, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
        return self._terminal

    def _fits(self) -> bool:
        with contextlib.suppress(OSError):
            size = os.get_terminal_size(self._opened())
            return size.columns >= LEAST[0] and size.lines >= LEAST[1]
        return False


def _in_ipython() -> bool:
    """Whether the user sits at IPython's prompt: what is asked there, and answered, is to stay in sight."""
    ipython = sys.modules.get('IPython')
    return ipython is not None and ipython.get_ipython() is not None


class _Lease:
    """One lease of the terminal.

    Args:
        terminal: Its descriptor.
        inspector: To whom.
        output: Holds what the program writes meanwhile.
        mine: Left when the terminal is no longer needed: other processes may ask then.
        overdue: Called when the program was not resumed in time after `pause`, on a thread of its own.
    """

    def __init__(self, terminal: int, inspector: InspectorProcess, output: HeldOutput, mine: contextlib.ExitStack,
                 overdue: Callable[[], None]) -> None:
        self._terminal = terminal
        self._inspector = inspector
        self._output = output
        self._mine = mine
        self._overdue = overdue
        self._timer: threading.Timer | None = None
        self._relaxed = False
        self._modes = TerminalModes(terminal)
        self._guard = guard_of(terminal)
        self._guard.hold(terminal, LEAVE_SCREEN)
        output.hold()
        inspector.lend()

    def pause(self, *, relaxed: bool) -> None:
        """The next stop is near: of another thread, or else, `relaxed`, of the program that goes on."""
        self._relaxed = relaxed
        if relaxed:
            self._inspector.relax()
            self._modes.restore()
        self._timer = threading.Timer(_STEP if relaxed else _BETWEEN, self._overdue)
        self._timer.daemon = True
        self._timer.start()

    def go_on(self) -> None:
        """It is there."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._relaxed:
            self._relaxed = False
            self._inspector.resume()

    def end(self) -> None:
        """Take the terminal back as it was, and write what was held."""
        if self._timer is not None:
            self._timer.cancel()
        try:
            self._inspector.take_back()
            if self._inspector.shown:
                self._modes.leave_screen()
            self._modes.restore()
            self._guard.free()
            self._output.release()
        finally:
            self._mine.close()
