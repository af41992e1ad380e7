"""`audit`: what the functions of a recording do beside computing outputs of inputs, by replays of some of their calls."""
from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pyfuncdbg.distributed.plain_answer import from_plain, to_plain
from pyfuncdbg.observers.debug.replay.audit import CALLS, Auditor, unaudited
from pyfuncdbg.observers.debug.replay.audit_finding import Audit, AuditedSite
from pyfuncdbg.observers.record.index.site_usage import SiteUse
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.dask_option import add_dask_option, work_on_cluster
from pyfuncdbg.ui.commands.engine.arguments import positive
from pyfuncdbg.ui.commands.engine.command import Command, Context
from pyfuncdbg.ui.commands.replay import load_host
from pyfuncdbg.ui.views.reports.audit import audit_view


def _audit(context: Context, args: argparse.Namespace) -> Audit:
    auditor = Auditor(context.trace, load_host, args.n, args.trust)
    if args.dask is None:
        with context.progress('replaying, sites') as tell:
            return auditor.run(args.site or '', tell, context.announce)
    options = {'calls': args.n, 'trust': args.trust}
    with (work_on_cluster(context, args.dask, f'{__name__}:audit_work', options) as answers,
          context.progress('replaying, sites') as tell):
        def spread(uses: Sequence[SiteUse]) -> Iterator[AuditedSite]:
            units = [[use.site.process, use.site.id] for use in uses]
            for use, answer in zip(uses, answers(units, tell), strict=True):
                yield unaudited(use, answer.failure) if answer.failure else from_plain(AuditedSite, answer.result)

        return auditor.run(args.site or '', None, context.announce, spread)


def audit_work(trace: Trace, options: Mapping[str, Any]) -> Callable[[Any], Any]:
    """What does the work of `audit --dask` in a process of a worker.

    Args:
        trace: The recording.
        options: `calls` and `trust` of the `Auditor`.

    Returns:
        From the process and the id of a site to its `AuditedSite`, as plain data.
    """
    auditor = Auditor(trace, load_host, options['calls'], options['trust'])
    uses = {(use.site.process, use.site.id): use for use in trace.usage()}
    return lambda unit: to_plain(auditor.audit_site(uses[tuple(unit)]))


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
    add_dask_option(parser)


AUDIT = Command('audit', 'replay calls of each function: is it pure, what does it read, write, draw, depend on', 'judge',
                _audit, audit_view, _arguments,
                examples=('audit', 'audit norm', "audit 'layer*' -n 20", 'audit -n 100 --dask local'), answer=Audit)
COMMANDS: tuple[Command, ...] = (AUDIT,)
