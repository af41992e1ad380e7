"""A divergence in one line: the reason of a stop, and of messages on stderr. Pure."""
from __future__ import annotations

from pyfuncdbg.observers.debug.comparison.divergence import Divergence, TensorDifference
from pyfuncdbg.observers.debug.stops.stop import DIFFERS

_LONGEST = 120
_MOST_ULP = 1000
"""Greatest distance in ULP that says more than the relative difference."""


def divergence_text(divergence: Divergence, name: str) -> str:
    """'differs from good.pfd #3: out 0: 1 element of 4, first [2] 2.5, was 2.0, at most 3 ULP'.

    Args:
        divergence: Of a running program.
        name: Of the recording.
    """
    then, now = divergence.numbers
    number = f'run #{then}' if divergence.what == 'run' else f'#{then}'
    if not then:
        return f'{DIFFERS} {name}: it has no such {divergence.what}'
    if not now:
        return f'{DIFFERS} {name}: its {divergence.label} ({number}) is missing here, {divergence.texts[1]}'
    text = f'{DIFFERS} {name} {number}: {_difference(divergence)}'
    if divergence.edited:
        text += '; its source changed'
    if divergence.generators:
        text += f'; draws other random numbers of {", ".join(divergence.generators)}'
    return f'{text}; reads {", ".join(divergence.reads)} (then | now)' if divergence.reads else text


def _difference(divergence: Divergence) -> str:
    before, now = (_cut(text) for text in divergence.texts)
    if divergence.kind == 'exception':
        return f'{_ending(now)}, {_ending(before)} then'
    if divergence.kind == 'unfinished':
        return f'{_ending(now)}, did not end then'
    if divergence.kind in ('print', 'warning'):
        verb = 'printed' if divergence.kind == 'print' else 'warned'
        return f'{verb} {now or "nothing"}, then {before or "nothing"}'
    if not divergence.tensors:                  # 'rng' of what was raised or printed
        return f'{now or "nothing"}, then {before or "nothing"}'
    more = f', {len(divergence.tensors) - 1} more differ' if len(divergence.tensors) > 1 else ''
    return _tensor(divergence.tensors[0]) + more


def _ending(text: str) -> str:
    return f'raised {text}' if text not in ('', 'returned') else 'returned'


def _tensor(tensor: TensorDifference) -> str:
    before, now = (_cut(text) for text in tensor.texts)
    name = f'{tensor.side} {tensor.slot}' + (f' {tensor.name}' if tensor.name else '')
    if tensor.value is None:
        return f'{name}: {tensor.kind} {now}, was {before}'
    value = tensor.value
    index = f'[{", ".join(map(str, value.first))}] ' if value.first else ''
    of_many = f'{value.elements:,} of {value.size:,} elements, first {index}' if value.size > 1 else ''
    text = f'{name}: {of_many}{now}, was {before}'
    if value.ulp is not None and value.ulp <= _MOST_ULP:
        return f'{text}, at most {value.ulp:,} ULP' if value.elements > 1 else f'{text}, {value.ulp:,} ULP'
    return f'{text}, relative {value.relative:.3g}' if value.relative is not None else text


def _cut(text: str) -> str:
    line = text if '\n' not in text.rstrip('\n') else repr(text)
    line = line.rstrip('\n')
    return line if len(line) <= _LONGEST else line[:_LONGEST - 3] + '...'
