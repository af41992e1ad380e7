"""The keys of the inspector: each types a command of the table, or moves about. Help page and footer come from here."""
from __future__ import annotations

from dataclasses import dataclass

from textual.binding import Binding

from pyfuncdbg.ui.commands.table import TABLE
from pyfuncdbg.ui.inspector.panes.table import PANES


@dataclass(frozen=True, slots=True)
class Key:
    """One key.

    Attributes:
        key: As Textual names it.
        shown: As a user calls it.
        action: Of the app.
        label: One or two words for the bottom line.
        help: What it does, for the help page; '' where the row of a relative says it.
        group: What a person wants who presses it: a heading of the help page.
        row: What the help page calls it, where its row is about its relatives too.
        footer: Whether the bottom line has it.
        stopped: Whether it acts on a program that runs.
    """

    key: str
    shown: str
    action: str
    label: str
    help: str
    group: str = ''
    row: str = ''
    footer: bool = False
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class TypingKey:
    """A key that types a command line.

    Attributes:
        key: The key.
        line: What it types; where it ends in a blank, the user goes on typing.
        label: One word.
        help, group, row: As of a `Key`.
    """

    key: str
    line: str
    label: str
    help: str
    group: str
    row: str = ''

    @property
    def command(self) -> str:
        """Name of the command."""
        return self.line.split()[0]


STEP, LOOK, CHANGE = 'step the program', 'look around a stop', 'stop elsewhere, change values'
WRONG, CALLS, PANES_ = 'find what went wrong', 'go from call to call', 'panes and screens'
LISTS, COMMANDS, LEAVE = 'lines, lists, timeline', 'type a command', 'leave'
GROUPS = (STEP, LOOK, CHANGE, WRONG, CALLS, PANES_, LISTS, COMMANDS, LEAVE)
"""Headings of the help page, in order."""

TYPED = (TypingKey('n', 'next', 'next', 'next line, over calls', STEP),
         TypingKey('s', 'step', 'step', 'next line, into calls', STEP),
         TypingKey('N', 'node', 'node', 'next node of the graph', STEP),
         TypingKey('c', 'cont', 'cont', 'continue to the next stop', STEP),
         TypingKey('r', 'return', 'return', 'on until the function returns', STEP),
         TypingKey('w', 'bt', 'where', 'where: the whole stack', LOOK),
         TypingKey('u', 'up', 'up', 'frame further out, further in', LOOK, 'u d'), TypingKey('d', 'down', 'down', '', LOOK),
         TypingKey('p', 'p ', 'print', 'print an expression', LOOK),
         TypingKey('l', 'list', 'list', 'lines around this one', LOOK),
         TypingKey('a', 'args', 'args', 'arguments of the function', LOOK),
         TypingKey('b', 'break ', 'break', 'stop at a node, function, line', CHANGE),
         TypingKey('i', 'inject ', 'inject', 'give a tensor another value', CHANGE),
         TypingKey('R', 'rewind ', 'rewind', 'go back to before a node', CHANGE),
         TypingKey('r', 'report', 'report', 'report of what happened', WRONG),
         TypingKey('h', 'health', 'health', 'health: where NaN was born', WRONG),
         TypingKey('t', 'lt', 'lt', 'tensors', WRONG), TypingKey('g', 'tape', 'tape', 'gradients: the tape', WRONG),
         TypingKey('p', 'eval ', 'eval', 'value of an expression', WRONG),
         TypingKey('question_mark', 'help', 'help', 'this page, and all commands', COMMANDS))
"""Keys that type commands; those whose command the table lacks do not exist.

Of two with one key the first that can counts."""

_MOVING = (
    Key('f', 'f', "call_with('bad', 1)", 'NaN', 'NaN or error: next, before', WRONG, 'f F', True),
    Key('F', 'F', "call_with('bad', -1)", 'NaN before', '', WRONG),
    Key('D', 'D', 'difference', 'diff', 'what changed in the tensor', WRONG, '', True),
    Key('full_stop', '.', 'call_by(1)', 'next', 'next call, call before', CALLS, '. ,', True),
    Key('comma', ',', 'call_by(-1)', 'call before', '', CALLS),
    Key('tab', 'Tab', 'pane_by(1)', 'next pane', 'next pane; Shift-Tab: before', PANES_),
    Key('shift+tab', 'Shift-Tab', 'pane_by(-1)', 'pane before', '', PANES_),
    Key('z', 'z', 'zoom', 'zoom', 'one pane on the whole screen', PANES_),
    Key('left_square_bracket,alt+left', '[', 'screen_back', 'back', 'screen before, screen after', PANES_, '[ ]'),
    Key('right_square_bracket,alt+right', ']', 'screen_forward', 'forward', '', PANES_),
    Key('escape', 'Esc', 'leave', 'panes', 'to the panes; ends a command', PANES_),
    Key('f2', 'F2', 'shade', 'light', 'light or dark', PANES_),
    Key('slash', '/', 'search', 'find', 'find; Enter, Up, Down go on', LISTS, '', True),
    Key('ampersand', '&', 'filter', 'filter', 'filter; Esc shows all again', LISTS, '', True),
    Key('colon', ':', 'type', 'type', 'or type its letters at once', COMMANDS, '', True),
    Key('ctrl+p', 'Ctrl-P', 'command_palette', 'palette', 'find one; theme, screenshot', COMMANDS),
    Key('ctrl+c', 'Ctrl-C', 'cancel', 'break off', 'break off the one that runs', COMMANDS),
    Key('ctrl+z', 'Ctrl-Z', 'suspend', 'suspend', "'open': to the shell, fg: back", LEAVE),
    Key('q', 'q', 'leave_inspector', 'quit', 'leave the inspector', LEAVE, '', True))

TO_PROGRAM = '9'
"""The key of the app that leads here."""
_TO_PROGRAM = Key(TO_PROGRAM, TO_PROGRAM, 'program', 'program', "program's screen; Ctrl-] back", PANES_, stopped=True)

_HERE = 'a trace runs nothing: '
ELSEWHERE = {
    'n': f"{_HERE}'.' goes to the next call, f to the next that went wrong; 'pyfuncdbg run --break' stops a program",
    's': f"{_HERE}2 has the source of the call; 'pyfuncdbg run --break' stops a program, where s steps",
    'N': f'{_HERE}1 has the nodes of the graph, j and k go through them',
    'c': f"{_HERE}f goes to the next call that went wrong, '.' to the next one",
    'w': 'this is a trace: Enter on a call, or r, shows where it raised; 2 has the source of the call',
    'u': 'this is a trace: Up and Down move the cursor; the frames of an error are in the report (r)',
    'd': 'this is a trace: Up and Down move the cursor; what has changed in a tensor is D',
    'b': "a trace does not stop: 'pyfuncdbg run --break NODE script.py' does",
    'i': f"{_HERE}'pyfuncdbg run --break NODE' stops a program, where i injects a value",
    'R': f"{_HERE}',' goes to the call before"}
"""Message of a letter that acts on a stop, where there can be none: what to press instead."""
_INSTEAD = {'l': 'source', 'a': 'tensors'}
"""Panes that have, of a recorded call, what such a letter lists."""

RUNNING = frozenset(command.name for command in TABLE if command.group == 'run')
"""Commands that continue the program: their answer is what the panes then show."""
IN_FUNCTION = frozenset({'return'})
"""Lines that a key types at a stop only, and not at the card of a run; elsewhere it types another line."""


def keys() -> tuple[Key, ...]:
    """Every key, in the order of the help page."""
    typed = tuple(Key(one.key, '?' if one.key == 'question_mark' else one.key, f'typed({one.line!r})', one.label, one.help,
                      one.group, one.row, True, acts_on_stop(one.line))
                  for one in TYPED if one.command in TABLE)
    instead = (*(Key(key, key, f'explain({key!r})', '', '') for key in ELSEWHERE),
               *(Key(key, key, f'pane({pane!r})', '', '') for key, pane in _INSTEAD.items()))
    first, last = PANES[0].key, PANES[-1].key
    panes = tuple(Key(pane.key, pane.key, f'pane({pane.name!r})', pane.name,
                      f'{PANES[0].name}, {PANES[1].name} ... {PANES[-1].name}' if pane is PANES[0] else '', PANES_,
                      f'{first}-{last}') for pane in PANES)
    return (*typed, *instead, *panes, *_MOVING, _TO_PROGRAM)


def bindings() -> list[Binding]:
    """The keys as the app binds them."""
    # Priority: these keys are the app's, whatever has the focus; only Esc means more where it is.
    return [Binding(one.key, one.action, one.label, show=one.footer, key_display=one.shown, priority=one.key != 'escape')
            for one in keys()]


def acts_on_stop(line: str) -> bool:
    """Whether a line's command needs a stopped thread or a program."""
    name = line.split()[0] if line.split() else ''
    command = TABLE.find(name)
    return command is not None and (command.needs_stop or command.needs_program)
