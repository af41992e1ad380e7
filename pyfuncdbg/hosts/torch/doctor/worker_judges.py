"""Judges of DataLoader workers that fail: exceptions, and processes that end.

Judges of the doctor: evidence in, findings out, on the thread that asks.
"""
from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.hooks.diagnosis import CallView, ErrorView, Evidence, Finding, Place, RecordedFact
from pyfuncdbg.hooks.own_files import is_library, is_machinery
from pyfuncdbg.hosts.torch.doctor.loader_calls import OPS, line_text, loader_spots, numbers
from pyfuncdbg.hosts.torch.doctor.worker_failures import ENDED, signal_name

_WORKER = re.compile(r'DataLoader worker (\d+)$')
"""Label of the run of a worker."""
_LONGEST, _MOST_ITEMS = 200, 8
_ADVICE = {
    'SIGKILL': 'the kernel does that where memory is short, and dmesg says so: fewer workers, a smaller prefetch_factor, '
               'arrays instead of large lists and dicts in the dataset',
    'SIGBUS': 'shared memory is used up: make /dev/shm larger, or take fewer workers and smaller batches',
    'SIGSEGV': 'PYTHONFAULTHANDLER=1 shows the line at which native code failed',
    'SIGABRT': 'PYTHONFAULTHANDLER=1 shows the line at which native code gave up'}


def find_worker_errors(evidence: Evidence) -> Iterator[Finding]:
    """Exceptions in workers: recorded calls that raised, and what PyTorch itself raised there, such as its collation."""
    facts = list(evidence.facts_of_kind('torch worker error'))
    groups: dict[tuple[Place, str, str], list[tuple[int, CallView]]] = {}
    counts: Counter[str] = Counter()
    for spot in loader_spots(evidence):
        counts[spot.site.name] += spot.count
        for call in spot.calls:
            if call.error is not None and (worker := _worker(evidence, call)) >= 0:
                place = _raised_at(call.error.frames)
                groups.setdefault((place, _class_name(call.error), spot.site.name), []).append((worker, call))
    for (place, error_type, name), raised in groups.items():
        workers = {worker for worker, _ in raised}
        told = [fact for fact in facts if fact.text('type') == error_type and fact.number('worker') in workers]
        facts = [fact for fact in facts if fact not in told]
        yield _of_calls(evidence, place, raised, told, counts[name])
    for fact in facts:
        yield _of_fact(fact)


def _of_calls(evidence: Evidence, place: Place, raised: Sequence[tuple[int, CallView]], facts: Sequence[RecordedFact],
              count: int) -> Finding:
    """An exception that calls tell of; `count` is how many calls its function had in all."""
    worker, call = min(raised, key=lambda entry: entry[1].started)
    name = call.site.name
    assert call.error is not None
    pid = evidence.pids.get(call.site.process)
    where = f'DataLoader worker {worker}' + (f' (process {pid})' if pid else '')
    message = _first_line(call.error.message)
    item = _item(evidence, call)
    what = (f'{name} raised {_class_name(call.error)}{f": {message}" if message else ""} in {where}'
            f'{f", for {item}" if item else ""}' + (f'; {_surfaced(facts[0], not item)}' if facts else ''))
    return Finding('worker error', name, place, what, {'calls that raised': len(raised), 'calls': count}, '',
                   'pyfuncdbg run --catch stops there, in the worker', tuple(call.number for _, call in raised[:3]))


def _of_fact(fact: RecordedFact) -> Finding:
    """An exception that no recorded call has."""
    function, message = fact.text('function'), fact.text('message')
    what = (f'DataLoader worker {fact.number("worker")} raised {fact.text("type")}{f": {message}" if message else ""}'
            f'{f", in {function}" if function else ""}; {_surfaced(fact)}')
    advice = 'num_workers=0 raises it in the main process, where pyfuncdbg.pm() and pdb reach it'
    if 'equal size' in message:
        advice = 'give the DataLoader a collate_fn that pads or crops the items of a batch to one shape'
    return Finding('worker error', function or 'DataLoader', fact.place, what, {'raised': fact.number('count')}, '', advice)


def _surfaced(fact: RecordedFact, with_items: bool = True) -> str:
    """Where the program got the error of a worker, and in place of what."""
    batch, items = fact.number('batch'), fact.text('items') if with_items else ''
    text = f'the program got it as {fact.text("surfaced")} at {line_text(fact.place)}'
    if batch >= 0:
        text += f', in place of batch {batch}' + (f' (items {items})' if items else '')
    return text + (', which ended its loop without an error' if fact.text('surfaced') == 'StopIteration' else '')


def find_dead_workers(evidence: Evidence) -> Iterator[Finding]:
    """Worker processes that ended before their work did."""
    deaths = list(evidence.facts_of_kind('torch worker death'))
    known = {fact.number('pid') for fact in deaths}
    for fact in deaths:
        yield _death(evidence, fact.place, fact.number('pid'), fact.number('worker'), fact.text('signal'),
                     fact.number('code'), fact.text('message'))
    for ended in evidence.facts_of_kind('ended'):       # raised wherever the main process was: PyTorch hears it by a signal
        match = ENDED.search(ended.text('raised'))
        for pid in re.findall(r'\d+', match[1]) if match is not None else ():
            if int(pid) not in known and match is not None:
                loaders = [fact for fact in evidence.facts_of_kind('torch loader') if pid in numbers(fact, 'pids')]
                place = loaders[0].place if loaders else Place('', 0)
                worker = numbers(loaders[0], 'pids')[pid] if loaders else -1
                yield _death(evidence, place, int(pid), worker, signal_name(match[2] or ''), 0, ended.text('raised'))


def _death(evidence: Evidence, place: Place, pid: int, worker: int, signal: str, code: int, message: str) -> Finding:
    name = f'DataLoader worker {worker}' if worker >= 0 else 'A DataLoader worker'
    how = f'was killed by {signal}' if signal else f'ended with exit code {code}' if code else 'ended; why is not known'
    what = f'{name} (process {pid}) {how}; the program got {message}'
    processes = {process for process, its_pid in evidence.pids.items() if its_pid == pid}
    calls = [call for spot in loader_spots(evidence) for call in spot.calls if call.site.process in processes]
    last = max(calls, key=lambda call: call.started, default=None)
    if last is not None:
        item = _item(evidence, last)
        what += (f'. The last call that it recorded: {last.site.name}{f" of {item}" if item else ""}'
                 f'{", which had not ended" if last.duration is None else ""}')
    advice = _ADVICE.get(signal, 'look for os._exit and sys.exit in what the dataset calls' if code else
                         'num_workers=0 does the same work in the main process, where its end can be seen')
    return Finding('worker death', name, place, what, {}, '', advice, (last.number,) if last is not None else ())


def _worker(evidence: Evidence, call: CallView) -> int:
    """The number of the worker in which a call was made; -1 for the main process."""
    match = _WORKER.match(evidence.run_label(call.number))
    return int(match[1]) if match is not None else -1


def _class_name(error: ErrorView) -> str:
    """The name of an exception's class without its module's, as PyTorch says it."""
    return error.type.rpartition('.')[2]


def _raised_at(frames: Sequence[Frame]) -> Place:
    """The innermost line of the program in a traceback; of a library where there is none."""
    own = [frame for frame in frames if not is_machinery(frame.filename) and not is_library(frame.filename)]
    return Place(*(own or frames)[-1][:2]) if frames else Place('', 0)


def _item(evidence: Evidence, call: CallView) -> str:
    """Which item a call fetches: 'item 5', 'items 3, 4, 5'; '' where that is not recorded."""
    if call.site.op_type != f'{OPS}item' or not call.inputs or any(value.shape or value.absent for value in call.inputs):
        return ''
    items = [evidence.scalar(value) for value in call.inputs[:_MOST_ITEMS]]
    if None in items:
        return ''
    listed = ', '.join([_first_line(str(item)) for item in items])
    return f'item{"s" if len(items) > 1 else ""} {listed}' + (', ...' if len(call.inputs) > _MOST_ITEMS else '')


def _first_line(text: str) -> str:
    return (text.splitlines() or [''])[0][:_LONGEST]
