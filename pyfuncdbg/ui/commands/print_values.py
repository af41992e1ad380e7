"""Values at a stop: `p`, `pp`, `whatis`, `args`, `retval`, `display`, `undisplay`, `!` and `interact`.

On the stopped thread, in the entry of the stack that is selected.
"""
from __future__ import annotations

import argparse
import builtins
import code
import contextlib
import pprint
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from pyfuncdbg.errors import CommandError, PyfuncdbgError, TypedCommand
from pyfuncdbg.observers.debug.cards.stop_card import local_values
from pyfuncdbg.observers.debug.inspecting.displays import Displayed, displays
from pyfuncdbg.observers.debug.inspecting.evaluate import FrameNames, Namespace, carry_out, evaluate
from pyfuncdbg.observers.debug.inspecting.scope import host_of, node_inputs, scope_of
from pyfuncdbg.observers.debug.inspecting.stack import (
    FrameEntry,
    NodeEntry,
    RunEntry,
    is_copy_selected,
    selected_entry,
)
from pyfuncdbg.observers.debug.stops.stop import Stop
from pyfuncdbg.observers.debug.value import Value, array_of, array_text, bounded, describe_value
from pyfuncdbg.ui.commands.engine.answer import Answer
from pyfuncdbg.ui.commands.engine.command import Command, Context
from pyfuncdbg.ui.commands.engine.lookup import find_tensor, parse_tensor
from pyfuncdbg.ui.commands.resume import stop_of
from pyfuncdbg.ui.views.escape import one_line, visible
from pyfuncdbg.ui.views.page import Page, Part
from pyfuncdbg.ui.views.tensors.variable import NamedValue, inline, value_page, variables_table

_LINES = 200
"""Lines of `pp`."""
_MOST_VALUES = 100
"""Values of one line of Python that are shown: a loop has one for each iteration."""


@dataclass(frozen=True, slots=True)
class PrintedValue:
    """The value of an expression; in `!` the last one that is not None.

    Attributes:
        expression: As typed.
        value: None if no expression statement in `!` has a value.
        session_variables: Variables of the session that a statement has set, as there is no frame to set them in.
        earlier: In `!`, the values of the expression statements before.
        left_out: How many values between those and the last one are not shown.
        copied_variables: Variables that a statement has set in a frame that is a copy of the program's.
    """

    expression: str
    value: Value | None
    session_variables: tuple[str, ...] = ()
    earlier: tuple[Value, ...] = ()
    left_out: int = 0
    copied_variables: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NamedTensor:
    """A name, its value, and the tensor that it is."""

    name: str
    value: Value
    tensor: str = ''


def value_of(context: Context, expression: str) -> Any:
    """The value of an expression at this stop.

    Raises:
        CommandError: It is none, or it raises.
    """
    text, names = scope_of(stop_of(context), expression)
    try:
        return evaluate(text, names)
    except CommandError as error:
        if ':' in expression and str(error).startswith('SyntaxError') and _is_recorded(context, expression):
            raise CommandError(f'{expression!r} is the name of a tensor, not Python: ', TypedCommand(f'pt {expression}'),
                               ' prints it') from None
        raise


def _is_recorded(context: Context, text: str) -> bool:
    try:
        find_tensor(context.trace, parse_tensor(text), stop=context.stop)
    except PyfuncdbgError:
        return False
    return True


def _print_value(context: Context, expression: str) -> Any:
    """The value of an expression, which is `$_` from now on."""
    value = value_of(context, expression)
    stop_of(context).printed = (value,)
    return value


def _print(context: Context, args: argparse.Namespace) -> PrintedValue:
    return PrintedValue(args.expression, describe_value(_print_value(context, args.expression), host_of(stop_of(context))))


def _pretty(context: Context, args: argparse.Namespace) -> PrintedValue:
    host = host_of(stop_of(context))
    value = _print_value(context, args.expression)
    described = describe_value(value, host)
    if described.tensor is not None or described.items:
        return PrintedValue(args.expression, described)
    lines = _Pretty(host).pformat(value).splitlines()
    more = [f'... {len(lines) - _LINES} more lines'] if len(lines) > _LINES else []
    return PrintedValue(args.expression, Value(described.type, '\n'.join([*lines[:_LINES], *more])))


class _Pretty(pprint.PrettyPrinter):
    """pprint that asks no array for its repr, and bounds every part."""

    def __init__(self, host: Any) -> None:
        super().__init__(width=100, depth=8)
        self._host = host

    def format(self, object: Any, context: dict[int, int], maxlevels: int, level: int) -> tuple[str, bool, bool]:
        """The text of one part."""
        array = array_of(object, self._host)
        if array is not None:
            return array_text(array), False, False
        if isinstance(object, list | tuple | dict | set | frozenset) and len(object) <= 1000:
            return super().format(object, context, maxlevels, level)
        return bounded(object, self._host), False, False


def _whatis(context: Context, args: argparse.Namespace) -> PrintedValue:
    value = value_of(context, args.expression)
    kind = value if isinstance(value, type) else type(value)
    what = 'Class' if isinstance(value, type) else 'Method' if hasattr(value, '__func__') else (
        'Function' if hasattr(value, '__code__') else '')
    name = getattr(value, '__qualname__', kind.__qualname__) if what else kind.__qualname__
    return PrintedValue(args.expression, Value('type', f'{what} {kind.__module__}.{name}' if what == 'Class' else
                                               f'{what} {name}' if what else f'{kind.__module__}.{name}'))


def _draw(result: PrintedValue) -> RenderableType:
    kept = [Text(f"${one_line(name, 60)} is a variable of this session; the graph and the program do not see it", 'dim',
                 overflow='fold') for name in result.session_variables]
    kept += [Text(f'{one_line(name, 60)} is set in a copy of the frame; the program does not see it', 'dim', overflow='fold')
             for name in result.copied_variables]
    values: list[Part] = [value_page(value) for value in result.earlier]
    values += [Text(f'... {result.left_out} more values', 'dim')] if result.left_out else []
    values += [value_page(result.value)] if result.value is not None else []
    return Page(*values, *kept)


def _args(context: Context, args: argparse.Namespace) -> list[NamedTensor]:
    stop = stop_of(context)
    host, entry = host_of(stop), selected_entry(stop)
    if isinstance(entry, NodeEntry):
        return [NamedTensor(name or tensor or f'input {index}', _input(read, host), tensor if name else '')
                for index, (name, tensor, read) in enumerate(node_inputs(stop, entry))]
    if isinstance(entry, RunEntry):
        feeds = value_of(context, 'feeds')
        return [NamedTensor(name, describe_value(value, host, items=0, copied=False)) for name, value in feeds.items()]
    if entry is None:
        return []
    frame = entry.frame
    its_code, names = frame.f_code, frame.f_locals
    count = its_code.co_argcount + its_code.co_kwonlyargcount
    count += bool(its_code.co_flags & 4) + bool(its_code.co_flags & 8)
    return [NamedTensor(name, describe_value(names[name], host, items=0, copied=False))
            for name in its_code.co_varnames[:count] if name in names]


def _input(read_value: Callable[[], Any], host: Any) -> Value:
    """An input of a node; of one that cannot be read, the reason."""
    try:
        return describe_value(read_value(), host, items=0, copied=False)
    except CommandError as error:
        return Value('', str(error).partition('\n')[0])


def _locals(context: Context, args: argparse.Namespace) -> list[NamedTensor]:
    stop = stop_of(context)
    entry = selected_entry(stop)
    if not isinstance(entry, FrameEntry):
        return _args(context, args)
    host = host_of(stop)
    return [NamedTensor(name, describe_value(value, host, items=0, copied=False))
            for name, value in local_values(entry.frame).items()]


def _draw_named(rows: list[NamedTensor]) -> RenderableType:
    if not rows:
        return Page(Text('there are no names here', 'dim'))
    return variables_table([NamedValue(row.name, row.value, row.tensor) for row in rows])


def _returned(context: Context, args: argparse.Namespace) -> list[NamedTensor]:
    stop = stop_of(context)
    host = host_of(stop)
    if stop.returns:
        return [NamedTensor('returns', describe_value(stop.result, host, items=0))]
    if stop.outputs is None:
        raise CommandError('retval: no value was returned here; it exists where a function returns, and after a call')
    names = stop.call.site.outputs if stop.call is not None else ()
    return [NamedTensor(names[i] if i < len(names) else f'out {i}', describe_value(value, host, items=0))
            for i, value in enumerate(stop.outputs)]


def _display(context: Context, args: argparse.Namespace) -> list[Displayed]:
    stop = stop_of(context)
    return [displays.add(stop, args.expression)] if args.expression else list(displays.at(stop))


def _draw_displays(rows: list[Displayed]) -> RenderableType:
    if not rows:
        return Page(Text('no expression is displayed here: "display EXPR" adds one', 'dim'))
    return Page(*(Text.assemble((one_line(row.expression, 60), 'bold'), '  ', inline(row.value),
                                *(('  was ', inline(row.before)) if row.before is not None else ()), overflow='fold')
                  for row in rows))


def _undisplay(context: Context, args: argparse.Namespace) -> int:
    return displays.remove(stop_of(context), args.expression)


def _python(context: Context, args: argparse.Namespace) -> PrintedValue:
    stop = stop_of(context)
    text, names = scope_of(stop, args.statement)
    shown: list[Value] = []
    left_out = 0

    def display(value: Any) -> None:
        """Describe a value before a later statement changes it."""
        nonlocal left_out
        if value is None:
            return
        stop.printed = (value,)
        if len(shown) == _MOST_VALUES:
            shown.pop()
            left_out += 1
        shown.append(describe_value(value, host_of(stop)))

    names.display = display
    try:
        carry_out(text, names)
    except CommandError:
        if shown:                               # as what is printed before the error
            print(Answer(PYTHON, PrintedValue(args.statement, shown[-1], (), tuple(shown[:-1]), left_out)).text(), end='')
        raise
    return PrintedValue(args.statement, shown[-1] if shown else None, tuple(dict.fromkeys(names.kept)), tuple(shown[:-1]),
                        left_out, _copied(stop, names))


def _copied(stop: Stop, names: Namespace) -> tuple[str, ...]:
    """Variables that were set in a frame that is a copy."""
    return tuple(dict.fromkeys(names.assigned)) if isinstance(names, FrameNames) and is_copy_selected(stop) else ()


def _interact(context: Context, args: argparse.Namespace) -> None:
    stop = stop_of(context)
    front_end = context.debugger.broker.front_end() if context.debugger is not None else None
    if front_end is not None and front_end.name in ('remote', 'inspector'):
        raise CommandError('interact: needs the terminal of the program; type Python line by line instead')
    _, names = scope_of(stop, '')
    if not isinstance(selected_entry(stop), FrameEntry):
        raise CommandError('interact: needs a Python frame; "down" or "up" selects one')
    _Interpreter(names).interact(banner='Python; the names are those of the frame. Ctrl-D goes back.', exitmsg='')


class _Interpreter(code.InteractiveConsole):
    """Python's own, over the names of a frame; `exit()` goes back to the prompt."""

    def __init__(self, names: Any) -> None:
        super().__init__()
        self.locals = names                     # by assignment: the constructor asks whether it is empty

    def runcode(self, code: Any) -> None:
        """Carry out one input."""
        try:
            super().runcode(code)
        except SystemExit:
            raise EOFError from None
        finally:
            if isinstance(self.locals, FrameNames):
                self.locals.settle()

    def interact(self, banner: str | None = None, exitmsg: str | None = None) -> None:
        """Until the end of input. The program is no interactive one afterwards if it was none."""
        before = {name: getattr(sys, name) for name in ('ps1', 'ps2') if hasattr(sys, name)}
        names: dict[str, Any] = vars(builtins)
        own: dict[str, Any] = {name: names[name] for name in ('exit', 'quit') if name in names}
        names.update(dict.fromkeys(own, sys.exit))      # Python's own close stdin, which is the program's
        try:
            super().interact(banner, exitmsg)
        except EOFError:
            sys.stderr.write('\n')
        finally:
            names.update(own)
            for name in {'ps1', 'ps2'} - set(before):
                with contextlib.suppress(AttributeError):
                    delattr(sys, name)


def _draw_undisplay(count: int) -> RenderableType:
    return Page(Text(visible(f'{count} not displayed any more'), 'dim'))


P = Command('p', 'print an expression; a tensor with its summary and first elements', 'look', _print, _draw, needs_stop=True,
            expression='expression',
            examples=('p x.shape', 'p mm:0.mean()', 'p $_ + 1'))
PP = Command('pp', 'print an expression over several lines', 'look', _pretty, _draw, needs_stop=True,
             expression='expression',
             examples=('pp config',))
WHATIS = Command('whatis', 'the type of an expression', 'look', _whatis, _draw, needs_stop=True, expression='expression',
                 examples=('whatis x',))
ARGS = Command('args', 'the arguments of the function; at a node, its inputs', 'look', _args, _draw_named,
               aliases=('a',), needs_stop=True,
               examples=('args',))
LOCALS = Command('locals', 'the variables of the function, parameters first; at a node, its inputs', 'look', _locals,
                 _draw_named, needs_stop=True,
                 examples=('locals',))
RETVAL = Command('retval', 'what the function returns, or the call gave', 'look', _returned, _draw_named, aliases=('rv',),
                 needs_stop=True,
                 examples=('retval',))
DISPLAY = Command('display', 'show an expression at each stop in this function where it has changed', 'look', _display,
                  _draw_displays, needs_stop=True, expression='expression',
                  examples=('display sd.min()', 'display'), tail='[EXPRESSION]')
UNDISPLAY = Command('undisplay', 'stop showing an expression; without one, all', 'look', _undisplay, _draw_undisplay,
                    needs_stop=True, expression='expression',
                    examples=('undisplay sd.min()', 'undisplay'), tail='[EXPRESSION]')
PYTHON = Command('!', 'run Python in the frame, also where a name is a command', 'look', _python, _draw,
                 needs_stop=True, expression='statement',
                 examples=('!n = 5', '!c'))
INTERACT = Command('interact', "the Python prompt with the names of the frame", 'look', _interact, lambda result: Page(),
                   needs_stop=True,
                   examples=('interact',))
COMMANDS: tuple[Command, ...] = (P, PP, WHATIS, ARGS, LOCALS, RETVAL, DISPLAY, UNDISPLAY, PYTHON, INTERACT)
