"""Session leader of a hosted program (setsid), as a shell is to its jobs; it outlives the program.

Run as a script of its own, by `leading.py`: stdlib only, on one thread. Without it the end of the program would end what it
has left running in the background, for then the system hangs up on the whole session.
"""
from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import sys
import termios

_BY_TERMINAL = (signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)


def main() -> None:
    """Start `argv[2:]` in the foreground of the terminal on stdin, and tell on the descriptor `argv[1]` how it ends."""
    report, command = int(sys.argv[1]), sys.argv[2:]
    os.set_inheritable(report, False)
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGTSTP):
        signal.signal(number, lambda number, frame: None)       # a handler, unlike SIG_IGN, is not inherited by the program
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    pid = os.posix_spawn(command[0], command, os.environ, setpgroup=0,
                         setsigdef=(signal.SIGTTOU, signal.SIGPIPE, signal.SIGXFSZ))
    os.closerange(3, report)                    # passed descriptors belong to the program only
    os.closerange(report + 1, 4096)

    def hang_up(number: int, frame: object) -> None:
        with contextlib.suppress(OSError):      # the system tells only the leader of the session
            os.killpg(pid, signal.SIGHUP)
            os.killpg(pid, signal.SIGCONT)
    signal.signal(signal.SIGHUP, hang_up)
    with contextlib.suppress(OSError):          # it has changed its group itself, or has ended
        os.tcsetpgrp(0, pid)
    os.write(report, b'%d\n' % pid)
    while True:
        _, status = os.waitpid(pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            break
        if os.WSTOPSIG(status) in _BY_TERMINAL:                 # no shell could resume it
            os.killpg(pid, signal.SIGCONT)
    with contextlib.suppress(OSError):          # a closing terminal signals its foreground group: this process from now on
        os.tcsetpgrp(0, os.getpgrp())
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    with contextlib.suppress(OSError):          # else the parent is gone
        os.write(report, b'%d\n' % os.waitstatus_to_exitcode(status))
        while True:
            signal.pause()


if __name__ == '__main__':
    main()
