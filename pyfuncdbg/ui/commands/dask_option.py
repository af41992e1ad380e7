"""`--dask`: work of a command on a finished trace, unit by unit, by workers of a Dask cluster."""
from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pyfuncdbg.distributed.chunked_job import ChunkedJob, UnitAnswer
from pyfuncdbg.distributed.work_cluster import LOCAL, opened_cluster
from pyfuncdbg.errors import AttachError, CommandError, nearest
from pyfuncdbg.observers.debug.gradients.call_again import is_of_this_process
from pyfuncdbg.observers.record.log.trace_folder import read_manifest
from pyfuncdbg.ui.commands.engine.arguments import positive
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.views.progress import Tell

Answers = Callable[[Sequence[Any], Tell | None], Iterable[UnitAnswer]]
"""Takes the units of work, plain data, and a progress callback; gives an answer for each unit, in the order of the units."""


class DaskCluster(NamedTuple):
    """Argument of `--dask`.

    Attributes:
        address: Of a scheduler; 'local' for a cluster of our own.
        processes: Of that one; 0 for as many as there are CPUs.
    """

    address: str
    processes: int = 0


def dask_cluster(text: str) -> DaskCluster:
    """Parse the argument; an argparse type.

    Args:
        text: As typed.

    Returns:
        The cluster.

    Raises:
        argparse.ArgumentTypeError: It is none.
    """
    name, colon, number = text.partition(':')
    if name == LOCAL:
        return DaskCluster(LOCAL, positive(number) if colon else 0)
    if ':' not in text:
        raise argparse.ArgumentTypeError(f"{text!r} is no cluster: expected 'local', 'local:4' or the address of a "
                                         f'scheduler, such as tcp://127.0.0.1:8786.{nearest(text, [LOCAL])}')
    return DaskCluster(text)


def add_dask_option(parser: argparse.ArgumentParser) -> None:
    """Add the option to a command's parser.

    Args:
        parser: Of the command.
    """
    parser.add_argument('--dask', metavar='CLUSTER', type=dask_cluster,
                        help='let a Dask cluster do it: the address of its scheduler, or local for processes here, '
                             'local:4 for four of them')


@contextlib.contextmanager
def work_on_cluster(context: Context, cluster: DaskCluster, work: str, options: Mapping[str, Any]) -> Iterator[Answers]:
    """A block in which a cluster works at the trace.

    Args:
        context: Of the command.
        cluster: Which one.
        work: 'module:function' that prepares the work, from the trace and the options.
        options: Plain data.

    Yields:
        What has units worked at.

    Raises:
        CommandError: The cluster cannot do it, or not to the end.
    """
    trace = context.trace
    if context.stop is not None or is_of_this_process(trace):
        raise CommandError('--dask is for a finished trace: the functions of this one live in the program that runs')
    job = {'work': work, 'path': os.path.abspath(trace.path), 'id': read_manifest(trace.path).id, 'options': dict(options),
           'folder': os.getcwd(), 'folders': sys.path if cluster.address == LOCAL else []}
    try:
        with (opened_cluster(cluster.address, cluster.processes) as client,
              contextlib.closing(ChunkedJob(client, job)) as chunks):
            yield chunks.answers
    except AttachError as error:
        raise CommandError(f'--dask {cluster.address}: {error}') from None
