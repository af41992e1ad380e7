"""The grammar of the command line: the subcommands of `pyfuncdbg`, and the options of each.

Read by the command line itself, and by what completes it in a shell.
"""
from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from pyfuncdbg.errors import UsageError, nearest
from pyfuncdbg.ui.commands.programs.flight_options import add_flight_options
from pyfuncdbg.ui.commands.programs.recording_options import add_recording_options
from pyfuncdbg.ui.commands.programs.stop_options import add_breaks

_TRACE = 'folder that a recording left, NAME.pfd (default: the newest in this folder)'
_FOLDER = "folder to look in (default: this folder, or 'traces' in the configuration)"


def _run() -> argparse.ArgumentParser:
    parser = _new_parser('run', 'Run a program as python would, and record every wrapped call. The report goes to stderr.',
                     usage='pyfuncdbg run [options] (SCRIPT | -m MODULE) [ARGS ...]')
    add_recording_options(parser)
    parser.add_argument('-q', '--quiet', action='store_true', help='no report at the end')
    parser.add_argument('--signal', action='store_true', help='SIGUSR1 switches the recording off and on again')
    parser.add_argument('--no-children', action='store_true',
                        help='record this process and its forks, not the Python processes that it starts')
    parser.add_argument('--live', action='store_true',
                        help='show calls, rates, memory and health on the full screen while the program runs')
    parser.add_argument('--hosted', metavar='FD', type=int, help=argparse.SUPPRESS)     # what the inspector starts
    add_flight_options(parser.add_argument_group('flight recorder'))
    _add_debugging(parser)
    comparison = parser.add_argument_group('comparison with an earlier recording')
    comparison.add_argument('--against', metavar='TRACE',
                            help='compare each call with this recording of the program, and stop at the first that differs')
    _add_difference_rules(comparison)
    return parser


def _add_debugging(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group('debugging')
    add_breaks(group)
    group.add_argument('--stop-all', action='store_true',
                       help='while a thread is at the prompt, all others of the program, in every process, wait at their '
                            'next call; time-outs of collectives run on')
    group.add_argument('--ui', choices=('auto', 'prompt', 'inspector', 'none'),
                       help='front end for stops; inspector: the full screen, with the program in a pane; '
                            'none: stops are logged and the program continues')
    group.add_argument('-x', metavar='FILE', dest='commands', help='run the commands in this file at the first stop')
    group.add_argument('--listen', action='store_true', help='let "pyfuncdbg connect" debug it from another terminal')
    group.add_argument('--wait', action='store_true',
                       help='like --listen, and the program starts when a client types "cont"')
    group.add_argument('--on-eof', choices=('cont', 'abort'), default='cont',
                       help='what to do at a stop after the end of input (default: cont)')


def _show() -> argparse.ArgumentParser:
    parser = _new_parser('show', 'Answer one command from a trace; without a command, the report.',
                     usage='pyfuncdbg show [TRACE] [COMMAND ...]')
    parser.add_argument('trace', metavar='TRACE', nargs='?', help=_TRACE)
    parser.epilog = "COMMAND is one of those that 'pyfuncdbg show help' lists, such as: calls, call 17, out 17, lt"
    return parser


def _open() -> argparse.ArgumentParser:
    parser = _new_parser('open', 'Look at a trace on the full screen: graph, source, tensors, output, gradients and calls.',
                     usage='pyfuncdbg open [TRACE]')
    parser.add_argument('trace', metavar='TRACE', nargs='?', help=_TRACE)
    return parser


def _diff() -> argparse.ArgumentParser:
    parser = _new_parser('diff', 'Compare two traces call by call: the first divergence, and what follows it. Exit code 0 '
                                 'if they are the same, 1 if they differ, 2 if they cannot be compared.',
                     usage='pyfuncdbg diff [options] TRACE TRACE')
    parser.add_argument('trace', metavar='TRACE', help='folder that a recording left, NAME.pfd')
    parser.add_argument('other', metavar='TRACE', help='the recording to compare with')
    _add_difference_rules(parser)
    parser.add_argument('--json', action='store_true', help='answer in JSON')
    return parser


def _add_difference_rules(group: argparse._ArgumentGroup | argparse.ArgumentParser) -> None:
    """What counts as a difference: `ui.commands.diff.rules_of` reads what was given, texts and None."""
    group.add_argument('--ignore', metavar='KINDS',
                       help='kinds of differences that do not count, such as time,print: value, shape, dtype, exception, '
                            'unfinished, calls, print, warning, rng, source, versions, environment, time')
    group.add_argument('--rtol', metavar='X', help='elements are equal up to X times the second one (default: bit for bit)')
    group.add_argument('--atol', metavar='X', help='elements are equal up to X')
    group.add_argument('--ulp', metavar='N', help='floats are equal if at most N representable numbers apart')


def _traces() -> argparse.ArgumentParser:
    parser = _new_parser('traces', 'List the traces of a folder with program, date, size and failures.',
                     usage='pyfuncdbg traces [--json] [FOLDER]')
    parser.add_argument('folder', metavar='FOLDER', nargs='?', help=_FOLDER)
    parser.add_argument('--json', action='store_true', help='answer in JSON')
    return parser


def _clean() -> argparse.ArgumentParser:
    parser = _new_parser('clean', 'Remove the traces of a folder; other files stay.',
                     usage='pyfuncdbg clean [--keep N] [--yes] [FOLDER]')
    parser.add_argument('folder', metavar='FOLDER', nargs='?', help=_FOLDER)
    parser.add_argument('--keep', metavar='N', default='0', help='keep the newest N (default: none)')
    parser.add_argument('--yes', action='store_true', help='do not ask')
    return parser


def _trim() -> argparse.ArgumentParser:
    parser = _new_parser('trim', 'Copy the calls of interest of a trace, with their runs, into a smaller one.',
                     usage='pyfuncdbg trim TRACE -o NEW [options] [CALL ...]')
    parser.add_argument('trace', metavar='TRACE', help='folder that a recording left, NAME.pfd')
    parser.add_argument('calls', metavar='CALL', nargs='*', help='a call or a range of them: 17, norm[3], 1..20')
    parser.add_argument('-o', dest='output', metavar='NEW', required=True, help='folder of the copy')
    parser.add_argument('--run', metavar='N', help='calls of this run')
    parser.add_argument('--site', metavar='GLOB', help='calls of these nodes, op types or functions')
    parser.add_argument('--bad', action='store_true', help='calls that met NaN or Inf')
    parser.add_argument('--failed', action='store_true', help='calls that raised')
    parser.add_argument('--if', dest='condition', metavar='PRED', help="calls where PRED holds: 'absmax(out) > 1e3'")
    parser.add_argument('--around', metavar='N', default='0', help='and N calls before and after each of these')
    return parser


def _merge() -> argparse.ArgumentParser:
    parser = _new_parser('merge', 'Make one trace of those that several machines have recorded of one program.',
                         usage='pyfuncdbg merge TRACE TRACE ... -o NEW [--clock TRACE=SECONDS]')
    parser.add_argument('traces', metavar='TRACE', nargs='+', help='folders that recordings left, NAME.pfd')
    parser.add_argument('-o', dest='output', metavar='NEW', required=True, help='folder of the new trace')
    parser.add_argument('--clock', metavar='TRACE=SECONDS', action='append', default=[],
                        help='add seconds to the times of a trace, whose machine has another clock: b.pfd=-3600')
    return parser


def _pack() -> argparse.ArgumentParser:
    parser = _new_parser('pack', 'Make one compressed file of a trace, to send it. It holds source text and values: --strip '
                                 'removes what the receiver must not see.', usage='pyfuncdbg pack TRACE [options]')
    parser.add_argument('trace', metavar='TRACE', help='folder that a recording left, NAME.pfd')
    parser.add_argument('-o', dest='output', metavar='FILE', help='the file (default: NAME.pfz in this folder)')
    parser.add_argument('--strip-values', action='store_true',
                        help='without elements of tensors, variables, arguments, printed text and messages of exceptions')
    parser.add_argument('--strip-source', action='store_true', help='without lines of the program')
    parser.add_argument('--strip-paths', action='store_true', help='without folders, and names of users and of the machine')
    return parser


def _unpack() -> argparse.ArgumentParser:
    parser = _new_parser('unpack', 'Make a trace of a packed file. Runs nothing, and refuses what holds anything else.',
                     usage='pyfuncdbg unpack FILE [-o TRACE]')
    parser.add_argument('file', metavar='FILE', help='what pyfuncdbg pack has made, NAME.pfz')
    parser.add_argument('-o', dest='output', metavar='TRACE', help='folder of the trace (default: NAME.pfd in this folder)')
    return parser


def _verify() -> argparse.ArgumentParser:
    parser = _new_parser('verify', 'Compare results, output and exit code of a program run plainly with those recorded (bit '
                               'by bit) and stepped (to the last bits). Exit code 0 if they are the same, else 1.',
                     usage='pyfuncdbg verify [options] (SCRIPT | -m MODULE) [ARGS ...]')
    parser.add_argument('--repeat', metavar='N', default='3', help='repetitions for the times (default: 3; 0 measures none)')
    parser.add_argument('--json', action='store_true', help='answer in JSON')
    return parser


def _doctor() -> argparse.ArgumentParser:
    parser = _new_parser('doctor', 'Run a program as python would, and report faults at its Python functions: leaks, lost '
                               'shapes and gradients, bytes taken for str, dtypes, waiting; each with the code that mends '
                               'it. Findings go to stderr; the exit code is the program\'s.',
                     usage='pyfuncdbg doctor [options] (SCRIPT | -m MODULE) [ARGS ...]')
    parser.add_argument('--record', metavar='PATH', help='folder for the trace (default: NAME.pfd in this folder)')
    parser.add_argument('--budget', metavar='SIZE', help='largest size of the trace, such as 256MB')
    parser.add_argument('--json', action='store_true', help='answer in JSON, on stderr')
    parser.add_argument('--examined', metavar='PATH', help=argparse.SUPPRESS)       # in the process of the program
    return parser


def _connect() -> argparse.ArgumentParser:
    parser = _new_parser('connect', 'Debug a listening program: one under "pyfuncdbg run --listen", or one that '
                     'imports pyfuncdbg and has PYFUNCDBG_LISTEN=1 in its environment.',
                     usage='pyfuncdbg connect [options] [PID | HOST:[PID]]')
    parser.add_argument('program', metavar='PID', nargs='?',
                        help='its process id (default: the only listening program, or the one that you pick), behind HOST: '
                             'on another machine, by "ssh HOST pyfuncdbg connect --stdio"')
    parser.add_argument('--list', action='store_true', help='list the programs that listen, and what each does')
    parser.add_argument('--stdio', action='store_true',
                        help='bridge between the program and stdin and stdout, for the other end of ssh')
    parser.add_argument('--remote', metavar='COMMAND', default='pyfuncdbg',
                        help='how pyfuncdbg is called on the other machine: .venv/bin/pyfuncdbg')
    parser.add_argument('-x', metavar='FILE', dest='commands', help='run the commands in this file first')
    parser.add_argument('--json', action='store_true', help='print the messages of the program as JSON, one a line')
    return parser


def _demo() -> argparse.ArgumentParser:
    parser = _new_parser('demo', 'Train a small network on handwritten digits under the recorder: its loss turns NaN.')
    parser.add_argument('--fixed', action='store_true', help='train the repaired version')
    return parser


def _help() -> argparse.ArgumentParser:
    parser = _new_parser('help', 'Show a topic of the manual, or all about a command; without a name, the topics.',
                         usage='pyfuncdbg help [--json] [TOPIC | COMMAND]')
    parser.add_argument('name', metavar='NAME', nargs='?', help='a topic, or a command of the shell or of the prompt')
    parser.add_argument('--json', action='store_true', help='answer in JSON')
    return parser


def _completion() -> argparse.ArgumentParser:
    parser = _new_parser('completion',
                         'Print a script for a shell that completes commands, options, traces and their contents.',
                         usage='pyfuncdbg completion (bash | zsh | fish)')
    parser.add_argument('shell', metavar='SHELL', nargs='?', choices=('bash', 'zsh', 'fish'), help='for which')
    parser.add_argument('--line', metavar='TEXT', help=argparse.SUPPRESS)       # what is typed so far
    parser.epilog = ('bash: eval "$(pyfuncdbg completion bash)" in ~/.bashrc. zsh: the same with zsh in ~/.zshrc, after '
                     'compinit. fish: pyfuncdbg completion fish > ~/.config/fish/completions/pyfuncdbg.fish')
    return parser


@dataclass(frozen=True, slots=True)
class Subcommand:
    """A subcommand of `pyfuncdbg`.

    Attributes:
        help: What it does, in half a line.
        parser: Makes the parser of its own arguments.
        takes_program: Whether a program with arguments of its own ends the line.
    """

    help: str
    parser: Callable[[], argparse.ArgumentParser]
    takes_program: bool = False


SUBCOMMANDS = {
    'run': Subcommand('run a program and record every wrapped call', _run, takes_program=True),
    'show': Subcommand('answer a command from a trace', _show),
    'open': Subcommand('look at a trace on the full screen', _open),
    'diff': Subcommand('compare two traces: the first divergence', _diff),
    'traces': Subcommand('list the traces of a folder', _traces),
    'clean': Subcommand('remove the traces of a folder', _clean),
    'trim': Subcommand('copy the calls of interest into a smaller trace', _trim),
    'merge': Subcommand('make one trace of those of several machines', _merge),
    'pack': Subcommand('make one compressed file of a trace, to send it', _pack),
    'unpack': Subcommand('make a trace of a packed file', _unpack),
    'verify': Subcommand('check that a program behaves the same when recorded, and measure the cost', _verify,
                         takes_program=True),
    'doctor': Subcommand('run a program and report faults at its Python functions, with code that fixes them', _doctor,
                         takes_program=True),
    'connect': Subcommand('debug a program that runs with --listen', _connect),
    'demo': Subcommand('record the training of a network whose loss turns NaN', _demo),
    'help': Subcommand('the manual: topics such as stops, tensors, tensorflow', _help),
    'completion': Subcommand('print a completion script for a shell', _completion)}


def top_parser(version: str) -> argparse.ArgumentParser:
    """The parser of the first word."""
    parser = _new_parser('', 'Record the Python functions inside a dataflow graph, and look at what happened.',
                         usage='pyfuncdbg [-h] [-V] COMMAND ...')
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = 'commands:\n' + ''.join(f'  {name:<13} {each.help}\n' for name, each in SUBCOMMANDS.items())
    parser.add_argument('-V', '--version', action='version', version=f'pyfuncdbg {version}')
    parser.add_argument('command', metavar='COMMAND', nargs='?', default='',
                        help='see below; pyfuncdbg COMMAND --help explains one')
    return parser


def actions_of(parser: argparse.ArgumentParser) -> dict[str, argparse.Action]:
    """Its options by name, but for those that only we give."""
    return {name: action for action in parser._actions if action.help != argparse.SUPPRESS
            for name in action.option_strings}


def options_with_value(parser: argparse.ArgumentParser) -> frozenset[str]:
    """The options that take a value."""
    return frozenset(name for action in parser._actions if action.nargs != 0 for name in action.option_strings)


def split_arguments(args: Sequence[str], parser: argparse.ArgumentParser) -> tuple[list[str], list[str]]:
    """Our options, and from the program on everything that is the program's."""
    at, takes_value = 0, options_with_value(parser)
    while at < len(args) and args[at].startswith('-') and args[at] not in ('-m', '-', '--'):
        at += 2 if args[at] in takes_value else 1
    ours, target = list(args[:at]), list(args[at:])
    return ours, target[1:] if target[:1] == ['--'] else target


def misplaced_options(target: Sequence[str], parser: argparse.ArgumentParser) -> list[str]:
    """Words of the program that are named like options of ours, in their order."""
    known = [name for name in actions_of(parser) if name.startswith('--')]
    return list(dict.fromkeys(name for word in target[1:] if (name := word.partition('=')[0]) in known))


def _new_parser(command: str, description: str, usage: str | None = None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(f'pyfuncdbg {command}'.strip(), usage, description, allow_abbrev=False)

    def error(message: str) -> NoReturn:
        unknown = message.removeprefix('unrecognized arguments: ').split('=')[0].split()
        near = nearest(unknown[0], actions_of(parser), 1) if message.startswith('unrecognized arguments: -') else ''
        raise UsageError(f'{f"{command}: " if command else ""}{message}{"." if near else ""}{near}')

    # argparse prints the usage and exits; an error here is one line. A subclass for one method would be the alternative.
    parser.error = error  # type: ignore[method-assign]
    return parser
