"""The one table of commands. The prompt, the inspector, the magics and `pyfuncdbg show` are generated from it."""
from __future__ import annotations

from pyfuncdbg.ui.commands.alias import UNALIAS, alias_command
from pyfuncdbg.ui.commands.break_commands import BREAKING
from pyfuncdbg.ui.commands.breakpoint_commands import COMMANDS
from pyfuncdbg.ui.commands.calls import CALL, CALLS, OUT
from pyfuncdbg.ui.commands.check import CHECK
from pyfuncdbg.ui.commands.doctor import DOCTOR
from pyfuncdbg.ui.commands.engine.command import Command
from pyfuncdbg.ui.commands.eval import EVAL
from pyfuncdbg.ui.commands.frames import FRAMES
from pyfuncdbg.ui.commands.graph import GRAPH
from pyfuncdbg.ui.commands.habits import HABITS_COMMAND
from pyfuncdbg.ui.commands.health import HEALTH
from pyfuncdbg.ui.commands.help import help_command
from pyfuncdbg.ui.commands.inject_swap import CHANGING
from pyfuncdbg.ui.commands.interrupt import INTERRUPT
from pyfuncdbg.ui.commands.live_values import PF
from pyfuncdbg.ui.commands.lt import LT
from pyfuncdbg.ui.commands.nodes import NODES
from pyfuncdbg.ui.commands.object_info import OBJECT_INFO
from pyfuncdbg.ui.commands.print_values import PRINTING
from pyfuncdbg.ui.commands.profile import LP
from pyfuncdbg.ui.commands.pt import PT
from pyfuncdbg.ui.commands.report import INFO, REPORT
from pyfuncdbg.ui.commands.resume import RESUMING
from pyfuncdbg.ui.commands.run import RUN
from pyfuncdbg.ui.commands.sources import SOURCES
from pyfuncdbg.ui.commands.stepping import STEPPING
from pyfuncdbg.ui.commands.stop_card import stop_command
from pyfuncdbg.ui.commands.tape import TAPE
from pyfuncdbg.ui.commands.threads import SWITCH, THREADS
from pyfuncdbg.ui.commands.timeit import TIMEIT
from pyfuncdbg.ui.commands.timeline import TIMELINE
from pyfuncdbg.ui.commands.to_rewind_retry import MOVING

TABLE: tuple[Command, ...] = (CALLS, CALL, OUT, LT, PT, PF, EVAL, GRAPH, *NODES, *SOURCES, TIMELINE, REPORT, HEALTH, TAPE,
                              CHECK, DOCTOR, LP, INFO, *BREAKING, COMMANDS, INTERRUPT, *RESUMING, *MOVING, *CHANGING,
                              *STEPPING, THREADS, SWITCH, RUN, stop_command(lambda: TABLE), *FRAMES, *PRINTING, *OBJECT_INFO,
                              TIMEIT, alias_command(lambda: TABLE), UNALIAS, HABITS_COMMAND,
                              help_command(lambda: TABLE))
