"""`audit`: what the functions of a recording do beside computing outputs of inputs, by replays of some of their calls."""
from __future__ import annotations

import argparse

from pyfuncdbg.observers.debug.replay.audit import CALLS, Auditor
from pyfuncdbg.observers.debug.replay.audit_finding import Audit
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.engine.arguments import positive
from pyfuncdbg.ui.commands.engine.command import Command, Context
from pyfuncdbg.ui.commands.replay import load_host
from pyfuncdbg.ui.views.reports.audit import audit_view


def _audit(context: Context, args: argparse.Namespace) -> Audit:
    with context.progress('replaying, sites') as tell:
        auditor = Auditor(context.trace, load_host, args.n, args.trust)
        return auditor.run(args.site or '', tell, context.announce)


def audit_trace(trace: Trace, site: str = '', *, calls: int = CALLS, trust: bool = False) -> Audit:
    """`Trace.audit`.

    Args:
        trace: The recording.
        site, calls, trust: As there.

    Returns:
        The result.

    Raises:
        CommandError: No site matches.
    """
    return Auditor(trace, load_host, calls, trust).run(site)


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('site', metavar='GLOB', nargs='?', help="node or function name, or a pattern such as 'layer*/norm'")
    parser.add_argument('-n', metavar='K', type=positive, default=CALLS,
                        help=f'replay at most K calls of each function: first, last and others between (default {CALLS})')
    parser.add_argument('--trust', action='store_true',
                        help='run the source that the trace holds where no file has the function; read it first')


AUDIT = Command('audit', 'replay calls of each function: is it pure, what does it read, write, draw, depend on', 'judge',
                _audit, audit_view, _arguments, examples=('audit', 'audit norm', "audit 'layer*' -n 20"), answer=Audit)
COMMANDS: tuple[Command, ...] = (AUDIT,)
