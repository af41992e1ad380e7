"""The one table of commands. The prompt, the inspector, the magics and `pyfuncdbg show` are generated from it."""
from __future__ import annotations

from pyfuncdbg.commands.alias import UNALIAS, alias_command
from pyfuncdbg.commands.attached import COMMANDS
from pyfuncdbg.commands.breaking import BREAKING
from pyfuncdbg.commands.calls import CALL, CALLS, OUT
from pyfuncdbg.commands.change import CHANGING
from pyfuncdbg.commands.check import CHECK
from pyfuncdbg.commands.command import Command
from pyfuncdbg.commands.doctor import DOCTOR
from pyfuncdbg.commands.evaluating import EVAL
from pyfuncdbg.commands.frames import FRAMES
from pyfuncdbg.commands.graph import MOVING
from pyfuncdbg.commands.graph_list import GRAPH
from pyfuncdbg.commands.habits import HABITS_COMMAND
from pyfuncdbg.commands.health import HEALTH
from pyfuncdbg.commands.help import help_command
from pyfuncdbg.commands.interrupt import INTERRUPT
from pyfuncdbg.commands.live import PF
from pyfuncdbg.commands.nodes import NODES
from pyfuncdbg.commands.object_info import OBJECT_INFO
from pyfuncdbg.commands.printing import PRINTING
from pyfuncdbg.commands.profile import LP
from pyfuncdbg.commands.report import INFO, REPORT
from pyfuncdbg.commands.resume import RESUMING
from pyfuncdbg.commands.runs import RUN
from pyfuncdbg.commands.sources import SOURCES
from pyfuncdbg.commands.stepping import STEPPING
from pyfuncdbg.commands.stopped import stop_command
from pyfuncdbg.commands.tape import TAPE
from pyfuncdbg.commands.tensor import PT
from pyfuncdbg.commands.tensors import LT
from pyfuncdbg.commands.threads import SWITCH, THREADS
from pyfuncdbg.commands.timeline import TIMELINE
from pyfuncdbg.commands.timing import TIMEIT

TABLE: tuple[Command, ...] = (CALLS, CALL, OUT, LT, PT, PF, EVAL, GRAPH, *NODES, *SOURCES, TIMELINE, REPORT, HEALTH, TAPE,
                              CHECK, DOCTOR, LP, INFO, *BREAKING, COMMANDS, INTERRUPT, *RESUMING, *MOVING, *CHANGING,
                              *STEPPING, THREADS, SWITCH, RUN, stop_command(lambda: TABLE), *FRAMES, *PRINTING, *OBJECT_INFO,
                              TIMEIT, alias_command(lambda: TABLE), UNALIAS, HABITS_COMMAND,
                              help_command(lambda: TABLE))
