"""Counts of the runs of a trace, as titles give them. Pure."""
from __future__ import annotations

from pyfuncdbg.observers.record.trace_info import TraceInfo
from pyfuncdbg.ui.views.units import count, with_retries


def run_counts(info: TraceInfo) -> str:
    """'44 runs, 44 backward passes, 1,000 elements of datasets': runs, then what else has a number of a run."""
    counts = []
    if info.runs or not (info.passes or info.elements):
        counts.append(with_retries(count(info.runs, 'run'), info.retries[1]))
    if info.passes:
        counts.append(count(info.passes, 'backward pass', 'backward passes'))
    if info.elements:
        counts.append(f'{count(info.elements, "element")} of datasets')
    return ', '.join(counts)


def run_numbers(info: TraceInfo) -> str:
    """'run #N counts runs and backward passes, from 2': what the numbers of runs count."""
    passes = info.passes + info.inner
    others = [words for words, number in (('backward passes', passes), ('elements of datasets', info.elements)) if number]
    start = f', from {info.first_run}' if info.first_run > 1 else ''
    return f'run #N counts {" and ".join([", ".join(["runs", *others[:-1]]), *others[-1:]])}{start}'


if __name__ == '__main__':
    from rich.text import Text

    from pyfuncdbg.ui.views.page import demo
    from pyfuncdbg.ui.views.sample_trace import sample
    demo(Text(f'{run_counts(sample().info())}; {run_numbers(sample().info())}'))
