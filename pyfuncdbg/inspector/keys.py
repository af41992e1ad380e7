"""The keys of the inspector: each types a command of the table, or moves about. Help page and footer come from here."""
from __future__ import annotations

from dataclasses import dataclass

from textual.binding import Binding

from pyfuncdbg.commands.table import TABLE
from pyfuncdbg.inspector.panes.program import TO_PROGRAM
from pyfuncdbg.inspector.panes.table import PANES


@dataclass(frozen=True, slots=True)
class Key:
    """One key.

    Attributes:
        key: As Textual names it.
        shown: As a user calls it.
        action: Of the app.
        label: One or two words.
        help: What it does.
        footer: Whether the bottom line has it.
        stopped: Whether it acts on a program that runs.
    """

    key: str
    shown: str
    action: str
    label: str
    help: str
    footer: bool = False
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class Typed:
    """A key that types a command line.

    Attributes:
        key: The key.
        line: What it types; where it ends in a blank, the user goes on typing.
        label: One word.
    """

    key: str
    line: str
    label: str

    @property
    def command(self) -> str:
        """Name of the command."""
        return self.line.split()[0]


TYPED = (Typed('n', 'next', 'next'), Typed('s', 'step', 'step'), Typed('N', 'node', 'node'), Typed('c', 'cont', 'cont'),
         Typed('w', 'rewind ', 'rewind'), Typed('u', 'up', 'up'), Typed('D', 'down', 'down'), Typed('e', 'p ', 'eval'),
         Typed('i', 'inject ', 'inject'), Typed('b', 'break ', 'break'),
         Typed('r', 'report', 'report'), Typed('h', 'health', 'health'), Typed('t', 'lt', 'lt'),
         Typed('g', 'tape', 'tape'), Typed('question_mark', 'help', 'help'))
"""Keys that type commands; those whose command the table lacks do not exist."""

_MOVING = (
    Key('full_stop', '.', 'call_by(1)', 'next', 'to the next call; every pane follows', True),
    Key('comma', ',', 'call_by(-1)', 'call before', 'to the call before'),
    Key('f', 'f', "call_with('bad', 1)", 'NaN', 'to the next call that gave NaN or infinity, or raised', True),
    Key('F', 'F', "call_with('bad', -1)", 'NaN before', 'to the one before'),
    Key('colon', ':', 'type', 'type', 'type a command; Tab completes it, Up and Down go through the history', True),
    Key('slash', '/', 'search', 'find', 'search in the screen or pane; Enter, Up and Down go on', True),
    Key('ampersand', '&', 'filter', 'filter', "filter the list: its command with '--site', or else a text that rows hold; "
        'Esc shows all', True),
    Key('d', 'd', 'difference', 'diff', "'pt --diff': what has changed in the tensor on the line since the call before; "
        'without one, you type its name', True),
    Key('ctrl+p', 'Ctrl-P', 'command_palette', 'palette', 'find a command, node or call by a part of its name'),
    Key('left_square_bracket,alt+left', '[', 'screen_back', 'back', 'to the screen before'),
    Key('right_square_bracket,alt+right', ']', 'screen_forward', 'forward', 'to the screen after'),
    Key('escape', 'Esc', 'leave', 'panes', 'back to the panes; breaks off a command that runs'),
    Key('tab', 'Tab', 'pane_by(1)', 'next pane', 'to the next pane'),
    Key('shift+tab', 'Shift-Tab', 'pane_by(-1)', 'pane before', 'to the pane before'),
    Key('z', 'z', 'zoom', 'zoom', 'one pane on the whole screen, and back'),
    Key(TO_PROGRAM, TO_PROGRAM, 'program', 'program',
        "to the screen of a program under 'run --ui inspector', twice: larger; Ctrl-] there gives the keys back"),
    Key('f2', 'F2', 'shade', 'light', 'light or dark'),
    Key('ctrl+c', 'Ctrl-C', 'cancel', 'break off', 'break off the command that runs'),
    Key('q', 'q', 'leave_inspector', 'quit', 'leave the inspector', True))


RUNNING = frozenset(command.name for command in TABLE if command.group == 'run')
"""Commands that let the program go on: their answer is what the panes then show."""


def keys() -> tuple[Key, ...]:
    """Every key, in the order of the help page."""
    known = {name: command for command in TABLE for name in (command.name, *command.aliases)}
    typed = tuple(Key(one.key, '?' if one.key == 'question_mark' else one.key, f'typed({one.line!r})', one.label,
                      f"'{one.line.strip()}': {known[one.command].help}" + (' (you type the rest)' * one.line.endswith(' ')),
                      True, acts_on_stop(one.line))
                  for one in TYPED if one.command in known)
    panes = tuple(Key(pane.key, pane.key, f'pane({pane.name!r})', pane.name, f'to the pane {pane.name}: {pane.help}')
                  for pane in PANES)
    return (*typed, *_MOVING, *panes)


def bindings() -> list[Binding]:
    """The keys as the app binds them."""
    # Priority: these keys are the app's, whatever has the focus; only Esc means more where it is.
    return [Binding(one.key, one.action, one.label, show=one.footer, key_display=one.shown, priority=one.key != 'escape')
            for one in keys()]


def acts_on_stop(line: str) -> bool:
    """Whether a line's command needs a stopped thread or a program."""
    name = line.split()[0] if line.split() else ''
    return any(command.needs_stop or command.needs_program for command in TABLE
               if name == command.name or name in command.aliases)
