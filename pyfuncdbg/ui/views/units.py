"""Numbers for people: durations, bytes, counts and values, short enough for a table cell."""
from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime


def seconds(value: float | None) -> str:
    """'1.25 s', '340 ms', '12.1 us'; 'running' for None."""
    if value is None:
        return 'running'
    for size, unit in ((1.0, 's'), (1e-3, 'ms'), (1e-6, 'us')):
        if abs(value) >= size * 0.9995:
            return f'{_three(value / size)} {unit}'
    return f'{_three(value * 1e9)} ns' if value else '0 s'


def milliseconds(value: float) -> str:
    """Seconds as a bare number of milliseconds, for columns."""
    return f'{value * 1e3:.2f}'


def size(nbytes: int) -> str:
    """Payload bytes: '48 B', '1.5 KB', '21 MB'; units are powers of 1024, as in `--budget 256MB`."""
    if nbytes < 1024:
        return f'{nbytes} B'
    value = float(nbytes)
    for unit in ('KB', 'MB', 'GB', 'TB'):
        value /= 1024
        if value < 1023.5:
            return f'{value:.0f} {unit}' if value >= 1000 else f'{_three(value)} {unit}'
    return f'{_three(value / 1024)} PB'


def count(number: int, noun: str, plural: str = '') -> str:
    """'1 call', '1,204 calls'."""
    return f'{number:,} {noun if number == 1 else plural or noun + "s"}'


def with_retries(text: str, retries: int) -> str:
    """'7 calls (2 retries)': a number of calls, retries of the user among them."""
    return f'{text} ({count(retries, "retry", "retries")})' if retries else text


def value(number: float | None, digits: int = 4) -> str:
    """A statistic to four digits or so: '0.6212', '1.2e+09', 'nan'; '' for None."""
    if number is None:
        return ''
    if number == 0:
        return '0'
    return f'{number:.{digits}g}'


def shape(sizes: tuple[int, ...], times: str = 'x') -> str:
    """'3x4', '()' for a scalar."""
    return times.join(map(str, sizes)) if sizes else '()'


def align(texts: Sequence[str]) -> list[str]:
    """Numbers with or without units, of one length: decimal points and units are below one another. '' stays blank."""
    parts = [(number.partition('.'), unit) for number, _, unit in (text.partition(' ') for text in texts)]
    fraction = max((len(dot + rest) for (_, dot, rest), _ in parts), default=0)
    measure = max((len(unit) for _, unit in parts), default=0)
    wide = max((len(whole) for (whole, _, _), _ in parts), default=0)
    return [f'{whole:>{wide}}{(dot + rest).ljust(fraction)}{" " * bool(measure)}{unit.ljust(measure)}' if whole else ''
            for (whole, dot, rest), unit in parts]


def date(timestamp: float) -> str:
    """Unix time: '2026-11-24 02:31:07 UTC'."""
    try:
        return datetime.fromtimestamp(timestamp, UTC).strftime('%Y-%m-%d %H:%M:%S UTC')
    except (OverflowError, OSError, ValueError):
        return 'at an unknown time'


def _three(number: float) -> str:
    if not math.isfinite(number):               # out of a damaged trace
        return str(number)
    if 0 < abs(number) < 1e-3:                  # less than any unit: a record of no clock
        return f'{number:.2g}'
    digits = 2 - math.floor(math.log10(abs(number))) if number else 0
    text = f'{number:.{max(0, digits)}f}'
    return text.rstrip('0').rstrip('.') if '.' in text else text


if __name__ == '__main__':
    for duration in (None, 0, 3e-9, 1.25e-5, 0.34, 75.2):
        print(seconds(duration))
    for nbytes in (48, 1536, 21_400_000, 10**16):
        print(size(nbytes))
