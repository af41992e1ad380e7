"""The command line: the actions of the subcommands of `pyfuncdbg`.

Reads arguments and hands over; called once, on the main thread. Everything heavy is imported by what needs it.
"""
# long: one subcommand after the other, and each hands over; what they share (programs, traces, endings) is read once
from __future__ import annotations

import argparse
import contextlib
import io
import os
import shlex
import sys
from collections.abc import Callable, Container, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pyfuncdbg.errors import CommandError, PyfuncdbgError, UsageError, nearest
from pyfuncdbg.ui.commands.command_line import (
    SUBCOMMANDS,
    misplaced_options,
    options_with_value,
    split_arguments,
    top_parser,
)

if TYPE_CHECKING:
    from pyfuncdbg.observers.record.trace import Trace
    from pyfuncdbg.ui.commands.configuration import Configuration
    from pyfuncdbg.ui.commands.engine.answer import Answer
    from pyfuncdbg.ui.commands.engine.command import Context
    from pyfuncdbg.ui.commands.programs.flight_options import FlightOptions
    from pyfuncdbg.ui.commands.programs.run_script import Program

Action = Callable[[], int]
"""Action that is left when the arguments are read; returns the exit code."""


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
        if sys.stdout is not None:
            sys.stdout.flush()                  # what was answered so far; `| head` may have had enough
    except PyfuncdbgError as error:
        from pyfuncdbg.ui.views.escape import one_line, visible
        # A mistake in an expression is marked on a line of its own; of anything else a name may hold line breaks.
        marked = str(error).startswith('bad condition: ') or str(error).endswith('^')
        text = visible(str(error)) if marked else one_line(str(error))
        print(f'pyfuncdbg: {text}', file=sys.stderr)
        return 2
    except BrokenPipeError:
        return _without_reader()
    except KeyboardInterrupt:                   # no program runs yet
        return _interrupted()
    # Outside of the try: an error of the user's program is the program's, whatever its class.
    return action()


def _without_reader() -> int:
    """The reader of our output is gone: what is left of it goes nowhere, also at the interpreter's end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


def _interrupted() -> int:
    print('pyfuncdbg: interrupted', file=sys.stderr)
    return 130


def _read(args: Sequence[str]) -> Action:
    actions = {'run': _run, 'show': _show, 'open': _open, 'diff': _diff, 'traces': _traces, 'clean': _clean,
               'trim': _trim, 'merge': _merge, 'pack': _pack, 'unpack': _unpack,
               'verify': _verify, 'doctor': _doctor, 'connect': _connect, 'demo': _demo, 'help': _help,
               'completion': _completion}
    from pyfuncdbg import __version__
    name = top_parser(__version__).parse_args(args[:1]).command
    if not name:
        raise UsageError(f'no command given: expected one of {", ".join(actions)}; pyfuncdbg --help explains them')
    if name not in actions:
        raise UsageError(f'no command {name!r}; there are {", ".join(actions)}.{nearest(name, actions, 1)}')
    return actions[name](SUBCOMMANDS[name].parser(), args[1:])


def _run(parser: argparse.ArgumentParser, args: Sequence[str]) -> Action:
    own_options, target = split_arguments(args, parser)
    options = parser.parse_args(own_options)
    program = _program('run', target)
    from pyfuncdbg.ui.commands.programs import recorded_program
    from pyfuncdbg.ui.commands.programs.flight_options import flight_options
    settings = recorded_program.settings(quiet=options.hosted is not None)
    budget = recorded_program.budget_of(options.budget, settings)
    if options.hosted is None:
        _tell_misplaced(target, parser)
        _prefer(options, settings)
    if (flight := flight_options(options)) is not None:
        return _flown(options, flight, program, settings, budget)
    path = Path(options.record) if options.record is not None else recorded_program.free_path(
        program.name, recorded_program.folder_in(settings))
    try:
        return _recorded(options, program, path, budget,
                         [*_without(own_options, options_with_value(parser)), *_separated(target)])
    except BaseException:
        if options.record is None:
            recorded_program.give_up(path)
        raise


def _prefer(options: argparse.Namespace, settings: Configuration) -> None:
    """Open the inspector for the program where the user wants that always, nothing says otherwise, and it can be."""
    by_settings = settings.ui == 'inspector' and options.ui is None and not os.environ.get('PYFUNCDBG_UI')
    if by_settings and not (options.live or options.listen or options.wait or options.keep_on):
        from pyfuncdbg.ui.inspector.hosting.host import refusal
        options.ui = 'inspector' if not refusal() else None


def _recorded(options: argparse.Namespace, program: Program, path: Path, budget: int | None,
              args: list[str]) -> Action:
    """Get everything ready for a program that is recorded at a path; `args` start it once more."""
    from pyfuncdbg.ui.commands.programs import recorded_program
    if options.hosted is not None:
        return _hosted(options, program, path, budget)
    screen = _on_screen(options, args, path, program)
    if screen is not None:
        return screen
    _debug(options)
    with _tell_at_exit(options):
        trace = recorded_program.begin(path, program, draws_report=not options.quiet, children=not options.no_children,
                                       **recorded_program.recorder_options(options, budget))
    _listen(options)
    _debug_children(trace)
    return lambda: _execute(program)


def _flown(options: argparse.Namespace, flight: FlightOptions, program: Program, settings: Configuration,
           budget: int | None) -> Action:
    """A program under a flight recorder, which makes no folder before something trips."""
    from pyfuncdbg.ui.commands.programs import recorded_program
    folder = recorded_program.folder_in(settings) if options.record is None else Path()
    path = folder / (f'{program.name}.pfd' if options.record is None else options.record)
    _debug(options)
    with _tell_at_exit(options):
        recorded_program.begin_flight(path, program.argv, flight, **recorded_program.recorder_options(options, budget))
    _listen(options)
    return lambda: _execute(program)


def _listen(options: argparse.Namespace) -> None:
    """Let clients of the command socket debug the program, and SIGUSR1 switch its recording, if that is wanted."""
    if options.signal:
        from pyfuncdbg.ui.commands.programs import recorded_program
        recorded_program.install_signal()
    if options.listen or options.wait or os.environ.get('PYFUNCDBG_LISTEN', '0') not in ('', '0'):
        from pyfuncdbg.observers.debug.debugger import debugger
        from pyfuncdbg.ui.commands.socket import listen
        from pyfuncdbg.ui.prompt.install import install
        install(debugger)                       # who asks for stops and leaves: they go to this terminal then
        listen.listen(wait=options.wait)


def _debug_children(trace: str) -> None:
    """Let the other processes of the program ask here, from the first `breakpoint()` in one of them on.

    Args:
        trace: Names the program to those that start afresh; '' where these are not followed.
    """
    from pyfuncdbg.hooks import process_invitations
    process_invitations.program = trace
    if trace and _follow_in_prompt(trace):
        return
    own = os.getpid()

    def prepare(*, forks: bool = False) -> None:
        with contextlib.suppress(Exception):                # a fault of ours, never at the cost of the program
            if os.getpid() == own:
                _await_breakpoints(trace, forks)
    if trace:
        from pyfuncdbg.observers.record.processes import followed_process
        followed_process.before_start.append(prepare)
    if hasattr(os, 'register_at_fork'):
        os.register_at_fork(before=lambda: prepare(forks=True), after_in_child=_expect_prompt)


def _follow_in_prompt(trace: str, forks: bool = False) -> bool:
    """Let processes ask here where this one is debugged; whether it is."""
    if (module := sys.modules.get('pyfuncdbg.ui.prompt.install')) is None:
        return False
    from pyfuncdbg.observers.debug.debugger import debugger
    if trace and not forks:                     # its hub prepares itself for forks
        module.follow_processes(debugger, trace)
    return True


def _await_breakpoints(trace: str, forks: bool) -> None:
    """Before another process starts or forks, which may come to a `breakpoint()`: it is to ask here, too."""
    if _follow_in_prompt(trace, forks):
        return                                  # this one has come to one
    from pyfuncdbg.ui.prompt.processes.program_hub import open_hub

    def load() -> None:
        from pyfuncdbg.observers.debug.debugger import debugger
        from pyfuncdbg.observers.record.delayed_recorder import begin_all
        from pyfuncdbg.ui.prompt.install import install
        begin_all()                             # the prompt reads the trace
        install(debugger)
    open_hub(trace, load, forks)


def _expect_prompt() -> None:
    """In a forked child."""
    if (module := sys.modules.get('pyfuncdbg.ui.prompt.processes.program_hub')) is not None:
        module.expect_prompt()


def _debug(options: argparse.Namespace) -> None:
    """Set what shall stop the program. Where nothing is asked for nothing is loaded, and nothing is slower."""
    rules = [f'--{name}' for name in ('ignore', 'rtol', 'atol', 'ulp') if getattr(options, name) is not None]
    if rules and options.against is None:
        raise UsageError(f'run: {", ".join(rules)}: expected --against TRACE too, the recording to compare with')
    if not (options.breaks or options.catch or options.stop_all or options.commands or options.ui is not None
            or options.on_eof != 'cont' or options.against is not None):
        return                                  # `breakpoint()` in the program brings along what it needs
    from pyfuncdbg.observers.debug.breakpoints.listing import pending_note
    from pyfuncdbg.observers.debug.debugger import debugger
    from pyfuncdbg.ui.commands.break_commands import breakpoint_of
    from pyfuncdbg.ui.prompt.install import install
    from pyfuncdbg.ui.prompt.pending_commands import command_file
    commands = command_file(options.commands) if options.commands is not None else []
    for place, condition in options.breaks:
        spec, when, settings = breakpoint_of(place, condition)
        entry = debugger.breakpoints.set(spec, when, **settings)
        if note := pending_note(entry.number, debugger.breakpoints):
            print(f'pyfuncdbg: {note}', file=sys.stderr)
    debugger.catching = options.catch
    debugger.stops_all = options.stop_all
    if options.stop_all:
        from pyfuncdbg.ui.commands.threads import TIMEOUTS
        print(f'pyfuncdbg: --stop-all: {TIMEOUTS} while a thread is at the prompt', file=sys.stderr)
    debugger.broker.lost = options.on_eof
    install(debugger, options.ui, commands=commands)
    if options.against is not None:
        from pyfuncdbg.ui.commands.diff import rules_of
        from pyfuncdbg.ui.commands.programs.reference_recording import compare_with
        compare_with(options.against, rules_of(options), debugger, quiet=options.hosted is not None)
    if options.breaks or options.catch or options.stop_all:
        debugger.start()


@contextlib.contextmanager
def _tell_at_exit(options: argparse.Namespace) -> Iterator[None]:
    """Say below the report which breakpoints stopped nothing, and what a comparison has found.

    Around what begins to record: where that fails no program has run, and there is nothing to say.
    """
    from pyfuncdbg.ui.commands.programs import recorded_program
    with contextlib.ExitStack() as unsaid:
        if options.breaks:
            unsaid.callback(recorded_program.tell_unhit())
        if options.against is not None:
            from pyfuncdbg.observers.debug.debugger import debugger
            from pyfuncdbg.ui.commands.programs.reference_recording import tell_result
            unsaid.callback(tell_result(debugger))
        yield
        unsaid.pop_all()


def _on_screen(options: argparse.Namespace, args: list[str], path: Path, program: Program) -> Action | None:
    """The full screen with the program in it, if that is wanted and can be shown here."""
    if not (options.live or options.ui == 'inspector'):
        return None
    if options.live and (options.ui not in (None, 'auto') or options.breaks or options.catch or options.commands or
                         options.against is not None):
        raise UsageError('run: --live cannot be combined with stops; use --ui inspector')
    from pyfuncdbg.hooks.notice import say
    from pyfuncdbg.ui.inspector.hosting.host import ScreenOptions, host, refusal
    why = refusal()
    if why:
        say(f'{why}; ' + ('running without --live' if options.live else 'stops are shown without the inspector'))
        options.ui = None
        return None
    if path.is_dir() and any(path.iterdir()):
        raise UsageError(f'run: {str(path)!r} is a folder with files in it; give --record a path that does not exist yet')
    options.ui = 'none'                         # nobody is asked in this process
    _debug(options)                             # finds mistakes in them before the screen opens
    title = os.path.basename(program.argv[0]) if program.argv[0] != '-m' else f'-m {program.name}'
    play = ScreenOptions(str(path), title, options.live, options.commands or '')
    return lambda: host(args, play)


def _hosted(options: argparse.Namespace, program: Program, path: Path, budget: int | None) -> Action:
    """The program under the inspector: stops go to the other end of a socket, and there is no report."""
    from pyfuncdbg.ui.commands.programs import recorded_program
    from pyfuncdbg.ui.inspector.hosting.host import take_terminal
    take_terminal()
    _debug(options)
    trace = recorded_program.begin(path, program, inspected=True, draws_report=False, children=not options.no_children,
                                   **recorded_program.recorder_options(options, budget))
    if options.breaks:
        recorded_program.note_unhit()
    if options.against is not None:
        from pyfuncdbg.observers.debug.debugger import debugger
        from pyfuncdbg.ui.commands.programs.reference_recording import note_result
        note_result(debugger)
    if options.signal:
        recorded_program.install_signal()
    if options.hosted >= 0:
        import socket as sockets

        from pyfuncdbg.observers.debug.debugger import debugger
        from pyfuncdbg.session import debug_sessions
        from pyfuncdbg.ui.commands.socket import listen
        from pyfuncdbg.ui.prompt.install import install
        from pyfuncdbg.ui.prompt.terminal_io import ctrl_c
        install(debugger, 'prompt')             # on the terminal, should the screen be gone
        ctrl_c.ignore()
        if options.listen or options.wait:
            listen.listen()
        listen.adopt(sockets.socket(fileno=options.hosted), attached=True)
        debug_sessions(program.name)
    _debug_children(trace)
    return lambda: _execute(program)


def _without(options: Sequence[str], takes_value: Container[str]) -> list[str]:
    """Our options, but for those about who is asked and where the trace goes."""
    remaining: list[str] = []
    rest = iter(options)
    for word in rest:
        own = [word, next(rest)] if word in takes_value else [word]
        if word.partition('=')[0] not in ('--ui', '--live', '--record', '-x') and not word.startswith('-x'):
            remaining += own
    return remaining


def _separated(target: Sequence[str]) -> list[str]:
    """A program on a command line, safe from being taken for an option."""
    return list(target) if target[0] == '-m' else ['--', *target]


def _demo(parser: argparse.ArgumentParser, args: Sequence[str]) -> Action:
    from pyfuncdbg.ui.commands.programs import recorded_program, run_script
    options = parser.parse_args(args)
    train = Path(__file__).parent / 'demo' / 'train.py'
    program = run_script.script(str(train), ('--fixed',) if options.fixed else ())
    path = recorded_program.free_path('demo')
    if not os.access('.', os.W_OK):
        import tempfile
        path = Path(tempfile.mkdtemp(prefix='pyfuncdbg-')) / path
    recorded_program.begin(path, program)
    return lambda: _execute(program)


def _connect(parser: argparse.ArgumentParser, args: Sequence[str]) -> Action:
    options = parser.parse_args(args)
    from pyfuncdbg.ui.prompt.connecting.remote_host import destination
    where = destination(options.program)
    if options.list or options.stdio:
        if where.host:
            raise UsageError(f'connect: --list and --stdio are about this machine: run them on {where.host}')
        from pyfuncdbg.ui.prompt.connecting.program_choice import find, list_programs
        if options.list:
            code = list_programs()
        else:
            from pyfuncdbg.ui.prompt.connecting.bridge import bridge
            code = bridge(find(where.pid, asks=False))
    else:
        from pyfuncdbg.ui.prompt.connecting.connect import connect
        code = connect(where, options.commands, as_json=options.json, command=options.remote)
    return lambda: code


def _show(parser: argparse.ArgumentParser, args: Sequence[str]) -> Action:
    if args[:1] in (['-h'], ['--help']):
        parser.parse_args(args[:1])
    from pyfuncdbg.ui.commands.traces import trace_and_command
    path, words = trace_and_command(args)
    if words[:1] and words[0].startswith('-'):
        words.insert(0, 'report')
    _shown(path, words)
    return lambda: 0


def _diff(parser: argparse.ArgumentParser, args: Sequence[str]) -> Action:
    options = parser.parse_args(args)
    words = ['diff', *(['--json'] if options.json else [])]
    for name in ('ignore', 'rtol', 'atol', 'ulp'):
        if (text := getattr(options, name)) is not None:
            words.append(f'--{name}={text}')
    answer = _shown(options.trace, [*words, '--', options.other])
    return lambda: int(not answer.result.same)


def _shown(path: str, words: list[str]) -> Answer:
    """Open a trace and print what a command finds in it."""
    from rich.console import Console

    from pyfuncdbg.observers.record.trace import Trace
    from pyfuncdbg.ui.commands.engine.command import Context
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors='backslashreplace')       # what a program printed, on a terminal of another encoding
    from pyfuncdbg.hooks.notice import say
    from pyfuncdbg.ui.views.progress import reading_progress, work_progress
    with reading_progress(path) as progress:
        trace = Trace.open(path, progress)
    with trace:
        console = Console(highlight=False, markup=False)
        if words[:1] == ['replay'] and '--pdb' in words:
            from pyfuncdbg.observers.debug.debugger import debugger
            from pyfuncdbg.ui.prompt.install import install
            install(debugger, 'prompt')
        try:
            answer = _answer(words, Context(trace, width=console.width, progress=work_progress, announce=say))
        except PyfuncdbgError as error:
            _warn_of_damage(trace)
            raise CommandError(error.worded(f'pyfuncdbg show {shlex.quote(path)} ')) from None
        if answer.command.name not in ('report', 'info'):           # these two list it
            _warn_of_damage(trace)
        if answer.as_json:
            print(answer.json, flush=True)      # a console would break the line at its width
        else:
            answer.show(console)                # uncropped: a diagram is for another program
    return answer


def _warn_of_damage(trace: Trace) -> None:
    """Part of the trace cannot be read: an answer from what is left must not pass for one from all of it."""
    from pyfuncdbg.ui.views.reports.info import damage_lines
    for line in damage_lines(trace.info().damage):
        print(f'pyfuncdbg: {line}; what could be read is shown', file=sys.stderr)


def _answer(words: list[str], context: Context) -> Answer:
    """The answer of a command; without words the report, for which no other command is loaded: they take 0.25 s."""
    if words not in ([], ['report']):
        from pyfuncdbg.ui.commands.execute import execute
        return execute(words, context)
    from pyfuncdbg.ui.commands.engine.answer import Answer
    from pyfuncdbg.ui.commands.report import REPORT
    return Answer(REPORT, REPORT.run(context, argparse.Namespace()))


def _open(parser: argparse.ArgumentParser, args: Sequence[str]) -> Action:
    path = parser.parse_args(args).trace
    if path is None:
        from pyfuncdbg.ui.commands.traces import newest_here
        path = newest_here('open')
    from pyfuncdbg.ui.inspector.launch import open_trace
    code = open_trace(path)
    return lambda: code


def _traces(parser: argparse.ArgumentParser, args: Sequence[str]) -> Action:
    options = parser.parse_args(args)
    from pyfuncdbg.ui.commands.traces import list_traces
    code = list_traces(options.folder, options.json)
    return lambda: code


def _clean(parser: argparse.ArgumentParser, args: Sequence[str]) -> Action:
    options = parser.parse_args(args)
    if not options.keep.isdecimal():
        raise UsageError(f'clean: --keep {options.keep!r} is not an integer from 0 on')
    from pyfuncdbg.ui.commands.traces import clean
    interactive = sys.stdin is not None and sys.stdin.isatty() and sys.stdout is not None and sys.stdout.isatty()
    code = clean(options.folder, int(options.keep), options.yes, input if interactive else None)
    return lambda: code


def _trim(parser: argparse.ArgumentParser, args: Sequence[str]) -> Action:
    options = parser.parse_intermixed_args(args)        # calls may stand behind options
    from pyfuncdbg.ui.commands import trace_files
    code = trace_files.trim(options)
    return lambda: code


def _merge(parser: argparse.ArgumentParser, args: Sequence[str]) -> Action:
    options = parser.parse_intermixed_args(args)
    from pyfuncdbg.ui.commands import trace_files
    code = trace_files.merge(options)
    return lambda: code


def _pack(parser: argparse.ArgumentParser, args: Sequence[str]) -> Action:
    options = parser.parse_args(args)
    from pyfuncdbg.ui.commands import trace_files
    code = trace_files.pack(options)
    return lambda: code


def _unpack(parser: argparse.ArgumentParser, args: Sequence[str]) -> Action:
    options = parser.parse_args(args)
    from pyfuncdbg.ui.commands import trace_files
    code = trace_files.unpack(options)
    return lambda: code


def _doctor(parser: argparse.ArgumentParser, args: Sequence[str]) -> Action:
    from pyfuncdbg.ui.commands.programs import recorded_program
    ours, target = split_arguments(args, parser)
    options = parser.parse_args(ours)
    settings = recorded_program.settings(quiet=options.examined is not None)
    budget = recorded_program.budget_of(options.budget, settings)
    program = _program('doctor', target)
    from pyfuncdbg.ui.commands import doctor
    if options.examined is not None:
        doctor.examine(Path(options.examined), program.argv, budget)
        return lambda: _execute(program)
    _tell_misplaced(target, parser)
    path = Path(options.record) if options.record is not None else recorded_program.free_path(
        program.name, recorded_program.folder_in(settings))
    if options.record is not None and path.is_dir() and any(path.iterdir()):
        raise UsageError(f'doctor: {options.record!r} is a folder with files in it; give a path that does not exist yet')
    options_before = ['--budget', options.budget] if options.budget is not None else []
    return lambda: doctor.attend([*options_before, *_separated(target)], path, options.json, options.record is None)


def _verify(parser: argparse.ArgumentParser, args: Sequence[str]) -> Action:
    ours, target = split_arguments(args, parser)
    options = parser.parse_args(ours)
    if not options.repeat.isdecimal() or int(options.repeat) > 1000:
        raise UsageError(f'verify: --repeat {options.repeat!r} is not an integer from 0 to 1000')
    _program('verify', target)
    _tell_misplaced(target, parser)
    return lambda: _verified(target, int(options.repeat), options.json)


def _verified(target: Sequence[str], repeats: int, as_json: bool) -> int:
    from rich.console import Console

    from pyfuncdbg.ui.commands.engine.to_json import to_json
    from pyfuncdbg.ui.commands.programs.verify import verify
    from pyfuncdbg.ui.views.page import print_page
    from pyfuncdbg.ui.views.progress import work_progress
    from pyfuncdbg.ui.views.reports.verify import verify_view
    try:
        with work_progress('verifying, runs of the program') as tell:
            verification = verify(target, repeats, tell)
    except KeyboardInterrupt:
        return _interrupted()
    if as_json:
        print(to_json(verification))
    else:
        print_page(verify_view(verification), Console(highlight=False, markup=False))
    return 0 if verification.answer in ('equal', 'near') else 1


def _help(parser: argparse.ArgumentParser, args: Sequence[str]) -> Action:
    options = parser.parse_args(args)
    from rich.console import Console

    from pyfuncdbg.ui.commands.engine.answer import Answer
    from pyfuncdbg.ui.commands.help import SHOWS_HELP, help_list, help_of
    from pyfuncdbg.ui.commands.table import TABLE
    from pyfuncdbg.ui.commands.topics import TOPICS
    if options.name in SUBCOMMANDS and options.name not in TOPICS and not options.json:
        SUBCOMMANDS[options.name].parser().print_help()
        return lambda: 0
    console = Console(highlight=False, markup=False)
    try:
        help_data = help_list((), console.width) if options.name is None else help_of(
            options.name, TABLE, console.width, tuple(SUBCOMMANDS))
    except CommandError as error:
        raise CommandError(error.worded('pyfuncdbg ')) from None
    Answer(SHOWS_HELP, help_data, options.json).show(console)
    return lambda: 0


def _completion(parser: argparse.ArgumentParser, args: Sequence[str]) -> Action:
    options = parser.parse_args(args)
    if options.shell is None:
        raise UsageError("completion: expected a shell: bash, zsh or fish; 'pyfuncdbg completion --help' tells where to "
                         'put what it prints')
    from pyfuncdbg.ui.commands import shell_completion
    print(shell_completion.SCRIPTS[options.shell] if options.line is None else
          '\n'.join(shell_completion.words(options.line, options.shell)))
    return lambda: 0


def _tell_misplaced(target: Sequence[str], parser: argparse.ArgumentParser) -> None:
    """Say which words of the program look as if they were meant for us."""
    names = misplaced_options(target, parser)
    if names:
        from pyfuncdbg.hooks.notice import say
        program = 'module' if target[0] == '-m' else 'script'
        say(f'{" and ".join(names)} after the {program} {"go" if len(names) > 1 else "goes"} to the {program}; '
            'put options of pyfuncdbg before it')


def _program(command: str, target: Sequence[str]) -> Program:
    """The program that a command line names.

    Raises:
        UsageError: It names none, or one that is not there.
    """
    from pyfuncdbg.ui.commands.programs import run_script
    if not target:
        raise UsageError(f'{command} needs a SCRIPT, or -m and the name of a module')
    if target == ['-m']:
        raise UsageError('-m needs the name of a module')
    if target[0] == '-m':
        program = run_script.module(target[1], tuple(target[2:]))
    else:
        program = run_script.script(target[0], tuple(target[1:]))
    run_script.keep_own_imports()
    return program


def _execute(program: Program) -> int:
    from pyfuncdbg.ui.commands.programs import run_script
    run_script.execute(program)
    return 0
