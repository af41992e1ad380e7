"""The command line: `pyfuncdbg run`, `show` and `demo`.

Reads arguments and hands over; called once, on the main thread. Everything heavy is imported by what needs it.
"""
# long: one door for all subcommands, a function each
from __future__ import annotations

import argparse
import io
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from pyfuncdbg.commands.stop_options import add_breaks
from pyfuncdbg.errors import CommandError, PyfuncdbgError, UsageError, nearest

if TYPE_CHECKING:
    from pyfuncdbg.commands.answer import Answer
    from pyfuncdbg.commands.command import Context
    from pyfuncdbg.commands.script import Program
    from pyfuncdbg.record.trace import Trace

Action = Callable[[], int]
"""What is left to do when the arguments are understood; returns the exit code."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line.

    Args:
        argv: Without the program's name; None for `sys.argv`.

    Returns:
        The exit code: 2 for arguments that make no sense, which one message on stderr explains.

    Raises:
        BaseException: What a program under `run` raises.
    """
    try:
        action = _read(sys.argv[1:] if argv is None else argv)
    except PyfuncdbgError as error:
        from pyfuncdbg.views.escape import one_line, visible
        # A mistake in an expression is marked on a line of its own; of anything else a name may hold line breaks.
        marked = str(error).startswith('bad condition: ') or str(error).endswith('^')
        text = visible(str(error)) if marked else one_line(str(error))
        print(f'pyfuncdbg: {text}', file=sys.stderr)
        return 2
    # Outside of the try: an error of the user's program is the program's, whatever its class.
    return action()


def _read(args: Sequence[str]) -> Action:
    commands = {'run': (_run, 'run a program and record every wrapped call'),
                'show': (_show, 'answer a command from a trace'),
                'open': (_open, 'look at a trace on the full screen'),
                'traces': (_traces, 'list the traces of a folder'),
                'clean': (_clean, 'remove the traces of a folder'),
                'verify': (_verify, 'prove that a program does the same while it is watched, and what that costs'),
                'doctor': (_doctor, "run a program and tell of faults at its Python functions, with the code to paste"),
                'connect': (_connect, 'the prompt for a program that runs with --listen'),
                'demo': (_demo, 'train a network whose loss turns NaN, recorded')}
    parser = _parser('', 'Record the Python functions inside a dataflow graph, and look at what happened.',
                     usage='pyfuncdbg [-h] [-V] COMMAND ...')
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = 'commands:\n' + ''.join(f'  {name:<13} {text}\n' for name, (_, text) in commands.items())
    from pyfuncdbg import __version__
    parser.add_argument('-V', '--version', action='version', version=f'pyfuncdbg {__version__}')
    parser.add_argument('command', metavar='COMMAND', nargs='?', default='',
                        help='one of those below; pyfuncdbg COMMAND --help tells more')
    name = parser.parse_args(args[:1]).command
    if not name:
        raise UsageError(f'a command is needed, one of {", ".join(commands)}; pyfuncdbg --help tells more')
    if name not in commands:
        raise UsageError(f'no command {name!r}; there are {", ".join(commands)}.{nearest(name, commands, 1)}')
    return commands[name][0](args[1:])


def _run(args: Sequence[str]) -> Action:
    parser = _parser('run', 'Run a program as python would, and record every wrapped call. The report goes to stderr.',
                     usage='pyfuncdbg run [options] (SCRIPT | -m MODULE) [ARGS ...]')
    parser.add_argument('--record', metavar='PATH', help='folder for the trace (default: NAME.pfd in this folder)')
    parser.add_argument('--ops', action='store_true', help='record every node of the graph too')
    parser.add_argument('--budget', metavar='SIZE', help='most bytes the trace may take, such as 256MB')
    parser.add_argument('--live', action='store_true',
                        help='show calls, rates, memory and health on the full screen while the program runs')
    parser.add_argument('--hosted', metavar='FD', type=int, help=argparse.SUPPRESS)     # what the inspector starts
    _add_debugging(parser)
    valued = ('--record', '--budget', '--hosted', *_DEBUGGING)
    ours, target = _split(args, valued)
    options = parser.parse_args(ours)
    program = _program('run', target)
    from pyfuncdbg.commands import recording
    budget = None if options.budget is None else recording.size(options.budget)
    path = recording.free_path(program.name) if options.record is None else Path(options.record)
    try:
        return _recorded(options, program, path, budget, [*_without(ours, valued), *_separated(target)])
    except BaseException:
        if options.record is None:
            recording.give_up(path)
        raise


def _recorded(options: argparse.Namespace, program: Program, path: Path, budget: int | None,
              args: list[str]) -> Action:
    """Get everything ready for a program that is recorded at a path; `args` start it once more."""
    from pyfuncdbg.commands import recording
    if options.hosted is not None:
        return _hosted(options, program, path, budget)
    screen = _on_screen(options, args, path, program)
    if screen is not None:
        return screen
    _debug(options)
    if options.breaks:
        recording.tell_unhit()
    recording.begin(path, program.argv, budget=budget, ops=options.ops)
    if options.listen or options.wait or os.environ.get('PYFUNCDBG_LISTEN', '0') not in ('', '0'):
        from pyfuncdbg.commands import socket
        from pyfuncdbg.debug.debugger import debugger
        from pyfuncdbg.prompt.front_ends import install
        install(debugger)                       # who asks for stops and leaves: they go to this terminal then
        socket.listen(wait=options.wait)
    return lambda: _execute(program)


_DEBUGGING = ('--break', '--if', '--ui', '-x', '--on-eof')
"""Options for debugging that take a value."""


def _add_debugging(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group('debugging')
    add_breaks(group)
    group.add_argument('--ui', choices=('auto', 'prompt', 'inspector', 'none'), default='auto',
                       help='who is asked at a stop; inspector: the full screen, with the program in a pane; '
                            'none: each stop is logged and the program goes on')
    group.add_argument('-x', metavar='FILE', dest='commands', help='carry out the commands in this file at the first stop')
    group.add_argument('--listen', action='store_true', help='let "pyfuncdbg connect" debug it from another terminal')
    group.add_argument('--wait', action='store_true', help='the same, and begin when whoever connects has said "cont"')
    group.add_argument('--on-eof', choices=('cont', 'abort'), default='cont',
                       help='what happens at a stop when nobody is there any more (default: cont)')


def _debug(options: argparse.Namespace) -> None:
    """Set what shall stop the program. Where nothing is asked for nothing is loaded, and nothing is slower."""
    if not (options.breaks or options.catch or options.commands or options.ui != 'auto' or options.on_eof != 'cont'):
        return                                  # `breakpoint()` in the program brings along what it needs
    from pyfuncdbg.debug.breakpoint_list import pending
    from pyfuncdbg.debug.debugger import debugger
    from pyfuncdbg.prompt.front_ends import install
    from pyfuncdbg.prompt.pending import command_file
    commands = command_file(options.commands) if options.commands is not None else []
    for spec, condition in options.breaks:
        made = debugger.breakpoints.set(spec, condition)
        if note := pending(made.number, debugger.breakpoints):
            print(f'pyfuncdbg: {note}', file=sys.stderr)
    debugger.catching = options.catch
    debugger.broker.lost = options.on_eof
    install(debugger, options.ui, commands=commands)
    if options.breaks or options.catch:
        debugger.start()


def _on_screen(options: argparse.Namespace, args: list[str], path: Path, program: Program) -> Action | None:
    """The full screen with the program in it, if that is wanted and can be shown here."""
    if not (options.live or options.ui == 'inspector'):
        return None
    if options.live and (options.ui != 'auto' or options.breaks or options.catch or options.commands):
        raise UsageError('run: --live only shows; for stops take --ui inspector instead')
    from pyfuncdbg.hooks.aside import say
    from pyfuncdbg.inspector.host import Screenplay, host, refusal
    why = refusal()
    if why:
        say(f'{why}; ' + ('running without --live' if options.live else 'stops are asked for without the inspector'))
        options.ui = 'auto'
        return None
    if path.is_dir() and any(path.iterdir()):
        raise UsageError(f'run: {str(path)!r} is a folder with files in it; give a path that does not exist yet to --record')
    options.ui = 'none'                         # nobody is asked in this process
    _debug(options)                             # finds mistakes in them before the screen opens
    title = os.path.basename(program.argv[0]) if program.argv[0] != '-m' else f'-m {program.name}'
    play = Screenplay(str(path), title, options.live, options.commands or '')
    return lambda: host(args, play)


def _hosted(options: argparse.Namespace, program: Program, path: Path, budget: int | None) -> Action:
    """The program under the inspector: stops go to the other end of a socket, and there is no report."""
    from pyfuncdbg.commands import recording
    from pyfuncdbg.inspector.host import take_terminal
    take_terminal()
    _debug(options)
    recording.begin(path, program.argv, budget=budget, ops=options.ops, report=False)
    if options.hosted >= 0:
        import socket as sockets

        from pyfuncdbg.commands import socket
        from pyfuncdbg.debug.debugger import debugger
        from pyfuncdbg.prompt import interrupt
        from pyfuncdbg.prompt.front_ends import install
        from pyfuncdbg.session import debug_sessions
        install(debugger, 'prompt')             # on the terminal, should the screen be gone
        interrupt.ignore()
        if options.listen or options.wait:
            socket.listen()
        socket.adopt(sockets.socket(fileno=options.hosted), attached=True)
        debug_sessions(program.name)
    return lambda: _execute(program)


def _without(ours: Sequence[str], valued: Sequence[str]) -> list[str]:
    """Our options, but for those about who is asked and where the trace goes."""
    kept: list[str] = []
    rest = iter(ours)
    for word in rest:
        own = [word, next(rest)] if word in valued else [word]
        if word.partition('=')[0] not in ('--ui', '--live', '--record', '-x') and not word.startswith('-x'):
            kept += own
    return kept


def _separated(target: Sequence[str]) -> list[str]:
    """A program on a command line, safe from being taken for an option."""
    return list(target) if target[0] == '-m' else ['--', *target]


def _demo(args: Sequence[str]) -> Action:
    from pyfuncdbg.commands import recording, script
    parser = _parser('demo', 'Train a small network on handwritten digits under the recorder: its loss turns NaN.')
    parser.add_argument('--fixed', action='store_true', help='train the repaired version')
    options = parser.parse_args(args)
    train = Path(__file__).parent / 'demo' / 'train.py'
    program = script.script(str(train), ('--fixed',) if options.fixed else ())
    path = recording.free_path('demo')
    if not os.access('.', os.W_OK):
        import tempfile
        path = Path(tempfile.mkdtemp(prefix='pyfuncdbg-')) / path
    recording.begin(path, program.argv)
    return lambda: _execute(program)


def _connect(args: Sequence[str]) -> Action:
    parser = _parser('connect', 'The prompt for a program that listens: one under "pyfuncdbg run --listen", or one that '
                     'imports pyfuncdbg and has PYFUNCDBG_LISTEN=1 in its environment.',
                     usage='pyfuncdbg connect [options] [PID]')
    parser.add_argument('pid', metavar='PID', nargs='?', type=int,
                        help='its process number (default: the only one that listens)')
    parser.add_argument('-x', metavar='FILE', dest='commands', help='carry out the commands in this file first')
    parser.add_argument('--json', action='store_true', help='print what the program sends as JSON, a message a line')
    options = parser.parse_args(args)
    from pyfuncdbg.prompt.connect import connect
    code = connect(options.pid, options.commands, as_json=options.json)
    return lambda: code


_TRACE = 'folder that a recording left, NAME.pfd (default: the newest in this folder)'


def _show(args: Sequence[str]) -> Action:
    parser = _parser('show', 'Answer one command from a trace; without a command, the report.',
                     usage='pyfuncdbg show [TRACE] [COMMAND ...]')
    parser.add_argument('trace', metavar='TRACE', nargs='?', help=_TRACE)
    parser.epilog = "COMMAND is one of those that 'pyfuncdbg show help' lists, such as: calls, call 17, out 17, lt"
    if args[:1] in (['-h'], ['--help']):
        parser.parse_args(args[:1])
    path, words = _trace_and_command(args)
    from pyfuncdbg.commands.command import Context
    from pyfuncdbg.record.trace import Trace
    if words[:1] and words[0].startswith('-'):
        words.insert(0, 'report')
    from rich.console import Console
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors='backslashreplace')       # what a program printed, on a terminal of another encoding
    from pyfuncdbg.views.progress import reading
    with reading(path) as progress:
        trace = Trace.open(path, progress)
    with trace:
        console = Console(highlight=False, markup=False)
        try:
            answer = _answer(words, Context(trace, width=console.width))
        except PyfuncdbgError as error:
            _warn_of_damage(trace)
            raise CommandError(error.worded(f'pyfuncdbg show {shlex.quote(path)} ')) from None
        if answer.command.name not in ('report', 'info'):           # these two list it
            _warn_of_damage(trace)
        try:
            if answer.as_json:
                print(answer.json, flush=True)                  # a console would break the line at its width
            else:
                answer.show(console)            # uncropped: a diagram is for another program
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return lambda: 1
    return lambda: 0


def _trace_and_command(args: Sequence[str]) -> tuple[str, list[str]]:
    """The trace that the first word names, and the command after it; the newest trace here if it names a command."""
    first = args[0] if args else ''
    if first and not first.startswith('-') and ('/' in first or Path(first, 'manifest.json').is_file()):
        return first, list(args[1:])
    if first and not first.startswith('-'):
        from pyfuncdbg.commands.table import TABLE
        names = [name for command in TABLE for name in (command.name, *command.aliases)]
        if first not in names:
            if not Path(first).exists():
                from pyfuncdbg.record.trace_folders import traces_in
                known = [*names, *(path.name for path, _ in traces_in(Path()))]
                raise UsageError(f'show: {first!r}: no such file or folder, and no command of that name.'
                                 f'{nearest(first, known, 1)}')
            return first, list(args[1:])
    from pyfuncdbg.commands.traces import newest_here
    return newest_here('show'), list(args)


def _warn_of_damage(trace: Trace) -> None:
    """Part of the trace cannot be read: an answer from what is left must not pass for one from all of it."""
    from pyfuncdbg.views.damage import damage_lines
    for line in damage_lines(trace.info().damage):
        print(f'pyfuncdbg: {line}; what could be read is shown', file=sys.stderr)


def _answer(words: list[str], context: Context) -> Answer:
    """What a command finds; without words the report. For that no other command is loaded: they take 0.25 s."""
    if words:
        from pyfuncdbg.commands.execute import execute
        return execute(words, context)
    from pyfuncdbg.commands.answer import Answer
    from pyfuncdbg.commands.report import REPORT
    return Answer(REPORT, REPORT.run(context, argparse.Namespace()))


def _open(args: Sequence[str]) -> Action:
    parser = _parser('open', 'Look at a trace on the full screen: graph, source, tensors, output, gradients and calls.',
                     usage='pyfuncdbg open [TRACE]')
    parser.add_argument('trace', metavar='TRACE', nargs='?', help=_TRACE)
    path = parser.parse_args(args).trace
    if path is None:
        from pyfuncdbg.commands.traces import newest_here
        path = newest_here('open')
    from pyfuncdbg.inspector.opening import open_trace
    code = open_trace(path)
    return lambda: code


def _traces(args: Sequence[str]) -> Action:
    parser = _parser('traces', 'List the traces of a folder with program, date, size, and what went wrong in them.',
                     usage='pyfuncdbg traces [--json] [FOLDER]')
    parser.add_argument('folder', metavar='FOLDER', nargs='?', default='.', help='where to look (default: this folder)')
    parser.add_argument('--json', action='store_true', help='answer in JSON')
    options = parser.parse_args(args)
    from pyfuncdbg.commands.traces import list_traces
    code = list_traces(Path(options.folder), options.json)
    return lambda: code


def _clean(args: Sequence[str]) -> Action:
    parser = _parser('clean', 'Remove the traces of a folder: their own files, and nothing else.',
                     usage='pyfuncdbg clean [--keep N] [--yes] [FOLDER]')
    parser.add_argument('folder', metavar='FOLDER', nargs='?', default='.', help='where they are (default: this folder)')
    parser.add_argument('--keep', metavar='N', default='0', help='keep the newest N (default: none)')
    parser.add_argument('--yes', action='store_true', help='do not ask')
    options = parser.parse_args(args)
    if not options.keep.isdecimal():
        raise UsageError(f'clean: --keep {options.keep!r} is no whole number from 0 on')
    from pyfuncdbg.commands.traces import clean
    asked = sys.stdin is not None and sys.stdin.isatty() and sys.stdout is not None and sys.stdout.isatty()
    code = clean(Path(options.folder), int(options.keep), options.yes, input if asked else None)
    return lambda: code


def _doctor(args: Sequence[str]) -> Action:
    from pyfuncdbg.commands import recording
    parser = _parser('doctor', 'Run a program as python would, and tell of faults at its Python functions: leaks, lost '
                               'shapes and gradients, bytes taken for str, dtypes, waiting; each with the code that mends '
                               'it. Findings go to stderr; the exit code is the program\'s.',
                     usage='pyfuncdbg doctor [options] (SCRIPT | -m MODULE) [ARGS ...]')
    parser.add_argument('--record', metavar='PATH', help='folder for the trace (default: NAME.pfd in this folder)')
    parser.add_argument('--budget', metavar='SIZE', help='most bytes the trace may take, such as 256MB')
    parser.add_argument('--json', action='store_true', help='answer in JSON, on stderr')
    parser.add_argument('--examined', metavar='PATH', help=argparse.SUPPRESS)       # the process of the program itself
    ours, target = _split(args, ('--record', '--budget', '--examined'))
    options = parser.parse_args(ours)
    budget = None if options.budget is None else recording.size(options.budget)
    program = _program('doctor', target)
    from pyfuncdbg.commands import doctor
    if options.examined is not None:
        doctor.examine(Path(options.examined), program.argv, budget)
        return lambda: _execute(program)
    path = recording.free_path(program.name) if options.record is None else Path(options.record)
    if options.record is not None and path.is_dir() and any(path.iterdir()):
        raise UsageError(f'doctor: {options.record!r} is a folder with files in it; give a path that does not exist yet')
    given = ['--budget', options.budget] if options.budget is not None else []
    return lambda: doctor.attend([*given, *_separated(target)], path, options.json, options.record is None)


def _verify(args: Sequence[str]) -> Action:
    parser = _parser('verify', 'Compare results, output and exit code of a program run plainly with those recorded (bit '
                               'by bit) and stepped (to the last bits). Exit code 0 if they are the same, else 1.',
                     usage='pyfuncdbg verify [options] (SCRIPT | -m MODULE) [ARGS ...]')
    parser.add_argument('--repeat', metavar='N', default='3', help='repetitions for the times (default: 3)')
    parser.add_argument('--json', action='store_true', help='answer in JSON')
    ours, target = _split(args, ('--repeat',))
    options = parser.parse_args(ours)
    if not options.repeat.isdecimal() or not 1 <= int(options.repeat) <= 1000:
        raise UsageError(f'verify: --repeat {options.repeat!r} is no whole number from 1 to 1000')
    _program('verify', target)
    return lambda: _verified(target, int(options.repeat), options.json)


def _verified(target: Sequence[str], repeats: int, as_json: bool) -> int:
    from rich.console import Console

    from pyfuncdbg.commands.plain import to_json
    from pyfuncdbg.commands.verify import verify
    from pyfuncdbg.views.verify import verify_view
    found = verify(target, repeats)
    if as_json:
        print(to_json(found))
    else:
        Console(highlight=False, markup=False).print(verify_view(found))
    return 0 if found.answer in ('equal', 'near') else 1


def _program(command: str, target: Sequence[str]) -> Program:
    """The program that a command line names.

    Raises:
        UsageError: It names none, or one that is not there.
    """
    from pyfuncdbg.commands import script
    if not target:
        raise UsageError(f'{command} needs a SCRIPT, or -m and the name of a module')
    if target == ['-m']:
        raise UsageError('-m needs the name of a module')
    if target[0] == '-m':
        program = script.module(target[1], tuple(target[2:]))
    else:
        program = script.script(target[0], tuple(target[1:]))
    script.keep_own_imports(program)
    return program


def _execute(program: Program) -> int:
    from pyfuncdbg.commands import script
    script.execute(program)
    return 0


def _split(args: Sequence[str], valued: Sequence[str]) -> tuple[list[str], list[str]]:
    """Our options, and from the program on everything that is the program's."""
    at = 0
    while at < len(args) and args[at].startswith('-') and args[at] not in ('-m', '-', '--'):
        at += 2 if args[at] in valued else 1
    ours, target = list(args[:at]), list(args[at:])
    return ours, target[1:] if target[:1] == ['--'] else target


def _parser(command: str, description: str, usage: str | None = None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(f'pyfuncdbg {command}'.strip(), usage, description, allow_abbrev=False)

    def error(message: str) -> NoReturn:
        raise UsageError(f'{command}: {message}' if command else message)

    # argparse prints the usage and exits; an error here is one line. A subclass for one method would be the alternative.
    parser.error = error  # type: ignore[method-assign]
    return parser
