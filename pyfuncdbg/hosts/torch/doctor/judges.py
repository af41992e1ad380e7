"""Judges of PyTorch programs: missing gradients, faults of ops and functions, waits for a device.

Judges of the doctor: evidence in, findings out, on the thread that asks.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pyfuncdbg.hooks.diagnosis import Evidence, Finding, Place, RecordedFact

_LEAST_WAITS, _LEAST_WAITED = 10, 0.01
"""Readings at a line, and seconds that they took."""
_SELDOM = 20
"""Training steps for one reading that are no fault."""
_READERS = {'__bool__': 'bool', '__float__': 'float', '__int__': 'int', '__complex__': 'complex', '__index__': 'an index',
            '__repr__': 'repr', '__format__': 'format', '__array__': 'np.asarray'}
"""What calls a method."""


def find_missing_gradients(evidence: Evidence) -> Iterator[Finding]:
    """Parameters that get no gradient though they are to be trained, by reason."""
    names: dict[tuple[str, str, Place], list[str]] = {}
    passes: Counter[tuple[str, str, Place]] = Counter()
    leaves = [(site, calls) for site, calls in evidence.backward_sites()
              if site.host == 'torch' and site.attrs.get('source')]
    trained, untrained = (Counter[object](), Counter[object]())
    for site, calls in leaves:
        (untrained if 'dead' in site.attrs else trained)[site.process, site.attrs.get('forward')] += calls
    for site, calls in leaves:
        reason, leaf = site.attrs.get('dead'), (site.process, site.attrs.get('forward'))
        if not isinstance(reason, str) or reason.startswith('requires_grad is False'):
            continue
        if trained[leaf] and trained[leaf] + untrained[leaf] <= evidence.passes:
            continue                            # trained in other passes; if there are more, two parameters have this name
        key = reason, str(site.attrs.get('fix', '')), _place(site.attrs.get('asked'))
        names.setdefault(key, []).append(str(site.attrs.get('forward', '')))
        passes[key] = max(passes[key], calls)
    for (reason, fix, place), parameters in names.items():
        listed = ', '.join(parameters[:5]) + (f' and {len(parameters) - 5} more' if len(parameters) > 5 else '')
        yield Finding('gradient', parameters[0], place, f'No gradient for {listed}: {reason}',
                      {'parameters': len(parameters), 'passes': passes[reason, fix, place]}, '', fix)


def find_missing_fakes(evidence: Evidence) -> Iterator[Finding]:
    """Custom ops that `torch.compile` cannot trace."""
    for fact in _totals(evidence, 'torch no fake'):
        op = fact.text('op')
        yield Finding('no fake', op, fact.place, f'The op {op} has no fake implementation: torch.compile and torch.export '
                      f'cannot tell the shape of its result', {},
                      f'@{fact.text("register")}\ndef _(*args):\n    return torch.empty_like(args[0])',
                      'give it one that makes an empty tensor of the shape and dtype of the result')


def find_aliases(evidence: Evidence) -> Iterator[Finding]:
    """Kernels that return memory of their inputs."""
    for fact in _totals(evidence, 'torch alias'):
        op, name = fact.text('op'), fact.text('input')
        yield Finding('alias', op, fact.place, f'What {op} returns shares its memory with its input {name!r}, and its '
                      f'schema does not say so: a write to one changes the other, and compiled code may give other results',
                      {'calls': fact.number('count')}, '', 'return a copy: result.clone()')


_ROLES = {'output': 'an output', 'input': 'an input', 'output view': 'a view of an output',
          'input view': 'a view of an input', 'other': 'a tensor that is neither an input nor an output'}
_UNPACKED = {'list': '*{}', 'tuple': '*{}', 'dict': '*{}.values()'}


def find_kept_tensors(evidence: Evidence) -> Iterator[Finding]:
    """Functions that keep tensors for backward as attributes of `ctx`, directly or in a container."""
    for fact in _totals(evidence, 'torch kept'):
        function, name, within, role = (fact.text(key) for key in ('function', 'attribute', 'within', 'role'))
        unpacked = _UNPACKED.get(fact.text('container'), '{}').format(name)
        what = (f'{function} keeps {_ROLES.get(role, "a tensor")} as ctx.{name}{within}: it is freed with the graph, not by '
                f'the backward pass that has used it')
        if role != 'other':
            what += ', and PyTorch does not notice when it is written to before backward'
        if role == 'output':
            what += '; the output and its graph keep each other alive until the garbage collector runs'
        yield Finding('kept', function, fact.place, what, {'calls': fact.number('count')},
                      f'ctx.save_for_backward({unpacked})',
                      f'read {"them" if within else "it"} in backward by ' + (
                          f'{name} = ctx.saved_tensors' if within else f'{name}, = ctx.saved_tensors'))


def find_device_waits(evidence: Evidence) -> Iterator[Finding]:
    """Lines that wait for a device again and again to read elements."""
    for fact in _totals(evidence, 'torch waits'):
        count, seconds = fact.number('count'), fact.number('waited') / 1e9
        if count < _LEAST_WAITS or seconds < _LEAST_WAITED or count * _SELDOM <= evidence.passes:
            continue
        name = _READERS.get(fact.text('function'), fact.text('function'))
        read = name if ' ' in name else f'{name}()'
        yield Finding('waits', name, fact.place, f'{read} has read elements of a tensor on {fact.text("device")} {count:,} '
                      f'times, and took {seconds:.2f} s: each waits until all that was started there has ended',
                      {'calls': count, 'seconds': round(seconds, 3)}, '',
                      'keep the tensor, with detach(), and read it once in many steps; decide on the device, by torch.where')


def _totals(evidence: Evidence, kind: str) -> Iterator[RecordedFact]:
    """The facts of a kind; those of several processes that differ in figures only are one, with the sums."""
    totals: dict[tuple[Any, ...], RecordedFact] = {}
    for fact in evidence.facts_of_kind(kind):
        words = {name: value for name, value in fact.data.items() if type(value) is str}
        key = fact.place, *sorted(words.items())
        known = totals.get(key)
        figures = {name: fact.number(name) + (known.number(name) if known is not None else 0)
                   for name in fact.data if name not in words}
        totals[key] = replace(known or fact, data={**words, **figures})
    yield from totals.values()


def _place(value: object) -> Place:
    match value:
        case [str(filename), int(line)]:
            return Place(filename, line)
    return Place('', 0)
