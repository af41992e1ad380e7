"""A share as a bar of characters: '####    ' or, in eighths of a cell, '███▌    '."""
from __future__ import annotations

EIGHTHS = ' ▏▎▍▌▋▊▉█'


def cost_bar(share: float, width: int, *, ascii_only: bool = False) -> str:
    """A bar of exactly `width` characters; what is not nothing is seen."""
    share = min(1.0, max(0.0, share if share == share else 0.0))
    if ascii_only:
        filled = round(share * width) or (share > 0)
        return ('#' * filled).ljust(width)
    eighths = round(share * width * 8) or (share > 0)
    return ('█' * (eighths // 8) + (EIGHTHS[eighths % 8] if eighths % 8 else '')).ljust(width)


def percent(share: float) -> str:
    """'42%', '<1%', '' for nothing."""
    if not share > 0:
        return ''
    return f'{share:.0%}' if share >= 0.01 else '<1%'


if __name__ == '__main__':
    for number in (0.0, 0.001, 0.3, 0.72, 1.0):
        print(f'|{cost_bar(number, 12)}| |{cost_bar(number, 12, ascii_only=True)}| {percent(number)}')
