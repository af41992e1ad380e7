"""Flags of a tensor in words: 'NaN 4', '50% zero', 'const', 'changed during the call'."""
from __future__ import annotations

from dataclasses import dataclass

from rich.text import Text

from pyfuncdbg.observers.record.records import Stats, TensorRecord
from pyfuncdbg.ui.views.escape import visible


@dataclass(frozen=True, slots=True)
class Flag:
    """One remark; a `bad` one is about NaN or infinity."""

    text: str
    bad: bool = False


NOTHING_FINITE = Flag('nothing finite', bad=True)


OTHERWISE = Flag("the session's own: computed again it differs")
"""Flag of an output whose call has this remark of the host."""


def flags(tensor: TensorRecord) -> tuple[Flag, ...]:
    """The remarks on one tensor, most serious first."""
    all_flags = _of_stats(tensor.stats, of_magnitudes(tensor)) if tensor.stats is not None else []
    if tensor.changed:
        all_flags.append(Flag('changed during the call'))
    if tensor.unknown:
        all_flags.append(Flag(visible(tensor.note)))
    elif tensor.level == 'none' or (tensor.level == 'stats' and tensor.note):
        kept = 'no array' if tensor.dtype == 'object' else 'nothing kept' if tensor.level == 'none' else 'stats only'
        all_flags.append(Flag(f'{kept}: {visible(tensor.note)}' if tensor.note else kept))
    return tuple(all_flags)


def flag_line(flags_of_value: tuple[Flag, ...]) -> Text:
    """The remarks on one line."""
    return Text(', ').join(Text(flag.text, 'bold red' if flag.bad else 'yellow') for flag in flags_of_value)


def of_magnitudes(tensor: TensorRecord) -> bool:
    """Whether statistics are of absolute values: complex numbers have no order."""
    return tensor.dtype.startswith('complex')


def _of_stats(stats: Stats, magnitudes: bool) -> list[Flag]:
    if stats.size == 0:
        return [Flag('empty')]
    stats_flags = [Flag(f'{name} {n:,}', bad=True)
                   for name, n in (('NaN', stats.nan), ('-Inf', stats.neg_inf),
                                   ('Inf' if magnitudes else '+Inf', stats.pos_inf)) if n]
    finite = stats.neg + stats.zero + stats.pos
    if stats.bad and not finite and stats.size > 1:
        stats_flags.append(NOTHING_FINITE)
    if stats.zero and stats.zero == stats.size:
        stats_flags.append(Flag('all zero'))
    elif stats.zero and stats.zero * 2 >= stats.size:
        stats_flags.append(Flag(f'{100 * stats.zero // stats.size}% zero'))
    elif finite > 1 and stats.min is not None and stats.min == stats.max:
        stats_flags.append(Flag('const magnitude' if magnitudes else 'const'))
    if magnitudes and finite and stats.max:
        stats_flags.append(Flag('figures of magnitudes'))
    return stats_flags


if __name__ == '__main__':
    from pyfuncdbg.ui.views.sample_trace import demo
    stats = Stats(12, nan=4, zero=6, pos=2, min=0, max=1)
    demo(flag_line(flags(TensorRecord('norm:0', 'float32', (3, 4), 48, 'stats', stats, changed=True, note='over budget'))))
