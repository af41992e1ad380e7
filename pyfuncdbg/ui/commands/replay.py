"""`replay`: a recorded call, or all of them, once more, and whether they give what they gave."""
from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType

from pyfuncdbg.distributed.plain_answer import from_plain, to_plain
from pyfuncdbg.errors import AttachError, CommandError, TypedCommand
from pyfuncdbg.hooks.host import HOSTS, Host
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.debug.replay.replay import Replayer
from pyfuncdbg.observers.debug.replay.replay_verdict import Replay
from pyfuncdbg.observers.debug.replay.replayed_calls import CallOutcome, CallsReplayer, ReplayedCalls, unreplayed
from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.dask_option import add_dask_option, work_on_cluster
from pyfuncdbg.ui.commands.engine.arguments import positive
from pyfuncdbg.ui.commands.engine.command import Command, Context
from pyfuncdbg.ui.commands.engine.lookup import find_call
from pyfuncdbg.ui.views.reports.replay import replay_view
from pyfuncdbg.ui.views.reports.replayed_calls import replayed_calls_view

SHOWN = 20
_PROGRESS = 'replaying, calls'
_OWN = 'pyfuncdbg'


def load_host(name: str) -> Host:
    """The host of a recorded call; its framework is imported, and attached to.

    Args:
        name: As in the trace.

    Returns:
        The host.

    Raises:
        CommandError: There is none of that name here.
    """
    from pyfuncdbg import hosts
    if name == _OWN:
        importlib.import_module('pyfuncdbg.tf')
        importlib.import_module('pyfuncdbg.hosts.numpy.ops.script.replay_site')
    elif name in hosts.FRAMEWORKS:
        try:
            importlib.import_module(name)
            hosts.attach(name)
        except ImportError as error:
            raise CommandError(f'the call was made by {name}, which is not installed here: {error}') from None
        except AttachError as error:
            raise CommandError(str(error)) from None
    host = HOSTS.get(name)
    if host is None:
        raise CommandError(f'the call was made by {name!r}, which cannot be had here')
    return host


def _replay(context: Context, args: argparse.Namespace) -> Replay | ReplayedCalls:
    if args.all:
        return _replay_all(context, args)
    if args.dask is not None:
        raise CommandError('--dask is for replay --all: one call is replayed here')
    if args.call is None:
        raise CommandError('which call? ', TypedCommand('replay 17'), ' or ', TypedCommand('replay norm[3]'),
                           ' replays one, ', TypedCommand('replay --all'), ' every call of a Python function')
    call = find_call(context.trace, args.call, context.stop)
    if args.pdb:
        return _debug(context, call, args)
    with Replayer(context.trace, call, load_host, args.trust) as replayer:
        _announce(context, replayer)
        with context.progress('replaying, executions') as tell:
            return replayer.run(args.times, args.change or '', tell)


def _replay_all(context: Context, args: argparse.Namespace) -> ReplayedCalls:
    for option in ('pdb', 'change', 'times'):
        if getattr(args, option) not in (None, False, 1):
            raise CommandError(f'--{option} and --all exclude each other')
    site, trace = args.call or '', context.trace
    replayer = CallsReplayer(trace, load_host, args.trust)
    if args.dask is None:
        with context.progress(_PROGRESS) as tell:
            return replayer.run(site, args.n, tell, context.announce)
    with (work_on_cluster(context, args.dask, f'{__name__}:replay_work', {'trust': args.trust}) as answers,
          context.progress(_PROGRESS) as tell):
        def spread(numbers: Sequence[str]) -> Iterator[CallOutcome]:
            for place, answer in enumerate(answers(numbers, tell)):
                yield (unreplayed(trace.call(numbers[place]), f'#{numbers[place]}: {answer.failure}') if answer.failure else
                       from_plain(CallOutcome, answer.result))

        return replayer.run(site, args.n, None, context.announce, spread)


def replay_work(trace: Trace, options: Mapping[str, Any]) -> Callable[[Any], Any]:
    """What does the work of `replay --all --dask` in a process of a worker.

    Args:
        trace: The recording.
        options: `trust` of the `CallsReplayer`.

    Returns:
        From the number of a call to its `CallOutcome`, as plain data.
    """
    replayer = CallsReplayer(trace, load_host, options['trust'])
    return lambda number: to_plain(replayer.replay(number))


def _debug(context: Context, call: CallRecord, args: argparse.Namespace) -> Replay:
    if context.stop is not None:
        raise CommandError('replay --pdb is for a finished trace; at a stop ', TypedCommand('retry'),
                           ' makes the call again from its beginning')
    if not debugger.broker.has_front_ends:
        raise CommandError(f'replay --pdb needs a terminal: pyfuncdbg show TRACE replay {call.number} --pdb')
    for option in ('change', 'times'):
        if getattr(args, option) not in (None, 1):
            raise CommandError(f'--{option} and --pdb exclude each other')
    with Replayer(context.trace, call, load_host, args.trust) as replayer:
        _announce(context, replayer)
        return replayer.debug(debugger)


def _announce(context: Context, replayer: Replayer) -> None:
    if text := replayer.announcement():
        context.announce(text)


def replay_call(trace: Trace, call: CallRecord, *, times: int = 1, change: str = '', trust: bool = False) -> Replay:
    """`CallRecord.replay`.

    Args:
        trace: Of the call.
        call, times, change, trust: As there.

    Returns:
        The result.

    Raises:
        CommandError: It cannot be replayed.
    """
    with Replayer(trace, call, load_host, trust) as replayer:
        return replayer.run(times, change)


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('call', metavar='CALL', nargs='?',
                        help="number, such as 17, or site and ordinal, such as 'norm[3]'; with --all a pattern of functions "
                             "or nodes, such as 'layer*'")
    parser.add_argument('--all', action='store_true', help='replay every call of a Python function, and count')
    parser.add_argument('-n', metavar='K', type=positive, default=SHOWN,
                        help=f'of --all: show at most K calls that are not the same (default {SHOWN})')
    parser.add_argument('--pdb', action='store_true', help='stop at the first line of its function')
    parser.add_argument('--times', metavar='K', type=positive, default=1,
                        help='execute it K times, each from the same state')
    parser.add_argument('--change', metavar='CODE', help="also execute it on changed inputs, such as 'x = x[:3]'")
    parser.add_argument('--trust', action='store_true',
                        help='run the source that the trace holds where no file has the function; read it first')
    add_dask_option(parser)


def _draw(result: Replay | ReplayedCalls) -> RenderableType:
    return replayed_calls_view(result) if isinstance(result, ReplayedCalls) else replay_view(result)


REPLAY = Command('replay', 'execute a recorded call again, or all of them, and compare', 'judge', _replay, _draw, _arguments,
                 examples=('replay 17', 'replay 17 --pdb', 'replay norm[3] --times 20', "replay 17 --change 'x = x[:3]'",
                           'replay --all', "replay --all 'layer*' --dask local"),
                 answer=Replay)
COMMANDS: tuple[Command, ...] = (REPLAY,)
