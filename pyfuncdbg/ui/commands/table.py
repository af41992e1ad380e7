"""Table of commands. The prompt, the inspector, the magics and `pyfuncdbg show` are generated from it.

A command is loaded when it is asked for: a module of commands has a tuple `COMMANDS`.
"""
from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from importlib import import_module

from pyfuncdbg.ui.commands.engine.command import Command, CommandTable, TableEntry

_MODULES = (
    ('calls', 'calls, call, out'),
    ('lt', 'lt list_tensors'),
    ('pt', 'pt print_tensor'),
    ('live_values', 'pf print_feed'),
    ('eval', 'eval'),
    ('graph', 'graph'),
    ('nodes', 'ni node_info, li list_inputs, lo list_outputs'),
    ('sources', 'ls list_source, ps print_source'),
    ('timeline', 'timeline'),
    ('report', 'report'),
    ('health', 'health'),
    ('graph', 'tape'),
    ('check', 'check'),
    ('doctor', 'doctor'),
    ('profile', 'lp list_profile'),
    ('replay', 'replay'),
    ('audit', 'audit'),
    ('diff', 'diff'),
    ('export', 'export'),
    ('record', 'record'),
    ('report', 'info'),
    ('break_commands', 'break b, tbreak, breaks bl, enable, disable, clear cl, condition, ignore, catch'),
    ('breakpoint_commands', 'commands'),
    ('threads', 'interrupt pause, stopall'),
    ('resume', 'cont c continue, node invoke_stepper, into, quit q exit quit() exit(), abort'),
    ('to_rewind_retry', 'to, rewind, retry'),
    ('inject_swap', 'inject, swap, skip, differences'),
    ('stepping', 'step s, next n, until unt, return r, jump j'),
    ('threads', 'threads, switch, processes'),
    ('run', 'run'),
    ('run', 'stop'),
    ('frames', 'bt where w, up u, down d, list l, longlist ll, source psource, exceptions, context'),
    ('print_values', 'p, pp, whatis, args a, locals, retval rv, display, undisplay, !, interact'),
    ('object_info', 'pinfo pdoc pdef, pinfo2'),
    ('timeit', 'timeit %timeit'),
    ('alias', 'alias, unalias'),
    ('habits', 'habits'),
    ('help', 'help h ?'),
)
"""Modules of this folder, and the commands of each with their aliases, in the order of `help`."""


def _load_command(module: str, name: str) -> Command:
    commands: tuple[Command, ...] = import_module(f'pyfuncdbg.ui.commands.{module}').COMMANDS
    return next(command for command in commands if command.name == name)


def _entries() -> Iterator[TableEntry]:
    for module, commands in _MODULES:
        for names in commands.split(', '):
            name, *aliases = names.split()
            yield TableEntry((name, *aliases), partial(_load_command, module, name))


TABLE = CommandTable(_entries())
