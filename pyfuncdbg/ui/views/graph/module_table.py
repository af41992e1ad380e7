"""The modules of a run with their parameters and buffers, one line each."""
from __future__ import annotations

from collections.abc import Sequence
from math import prod

from rich.console import ConsoleOptions
from rich.table import Table
from rich.text import Text

from pyfuncdbg.hooks.module_structure import ModuleMember, ModuleStructure
from pyfuncdbg.ui.views.escape import label
from pyfuncdbg.ui.views.lists import Column, fitted_table
from pyfuncdbg.ui.views.page import Page
from pyfuncdbg.ui.views.tensors.tensor_words import type_text
from pyfuncdbg.ui.views.units import count

SHOWN = 60


def module_table(modules: Sequence[ModuleStructure], left_out: int = 0) -> Page:
    """Modules under a line with the number of their parameters.

    Args:
        modules: In order.
        left_out: How many more were not recorded.
    """
    members = [member for one in modules for member in one.members if member.kind != 'buffer']
    title = Text.assemble((count(len(modules), 'module'), 'bold'), overflow='fold')
    if len(modules) > SHOWN:
        title.append(f', {SHOWN} shown')
    title.append(f'   {count(sum(_size(member) for member in members), "parameter")}')
    frozen = sum(_size(member) for member in members if member.kind == 'frozen')
    title.append(f', {frozen:,} frozen' if frozen else '')
    if left_out:
        title.append(f'   {left_out:,} more not recorded', 'yellow')
    title.append('   as at the first call', 'dim')
    shown = modules[:SHOWN]

    def draw(options: ConsoleOptions) -> Table:
        return fitted_table([
            Column('module', [label(one.path or '(outermost)', '' if one.path else 'dim', 120) for one in shown], 0,
                   least=12),
            Column('class', [label(one.kind, 'cyan', 60) for one in shown], 1, least=10),
            Column('parameters', [_members(one) for one in shown], 2, least=24, folds=True)], options)
    return Page(title, draw)


def _size(member: ModuleMember) -> int:
    return prod(member.shape) if member.shape is not None else 0


def _members(module: ModuleStructure) -> Text:
    texts = []
    for member in module.members:
        kind = f' ({member.kind})' if member.kind != 'parameter' else ''
        typed = type_text(member.dtype, member.shape) if member.shape is not None else '?'
        texts.append(f'{member.name} {typed}{kind}')
    return label(', '.join(texts), '', 1000)


if __name__ == '__main__':
    from pyfuncdbg.ui.views.sample_trace import demo
    weight = ModuleMember('weight', 'float32', (8, 1, 3, 3), 'parameter')
    bias = ModuleMember('bias', 'float32', (8,), 'frozen')
    demo(module_table([ModuleStructure('', 'Net', ()), ModuleStructure('conv', 'Conv2d', (weight, bias))]))
