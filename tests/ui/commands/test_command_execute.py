"""Every command from line to answer, text and JSON, and every way to get it wrong."""
from __future__ import annotations

import io
import json
from dataclasses import replace
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, strategies as st
from rich.console import Console
from written_trace import tensor, trace_of

from pyfuncdbg.errors import CommandError, DroppedError, PyfuncdbgError
from pyfuncdbg.observers.record.records import Stats, TensorRecord
from pyfuncdbg.ui.commands.engine.command import Command, CommandTable, Context, TableEntry, parser_of
from pyfuncdbg.ui.commands.execute import execute
from pyfuncdbg.ui.commands.help import GROUPS
from pyfuncdbg.ui.commands.plain_nouns import COMMANDS_BY_NOUN
from pyfuncdbg.ui.commands.table import TABLE
from pyfuncdbg.ui.views.sample_trace import sample

LINES = ['info', 'calls', 'call 3', 'out 3', 'lt', 'pt norm:0', 'pf', 'report', 'health', 'doctor', 'help', 'graph',
         'ni norm', 'li scale', 'lo norm', 'ls', 'ps model.py', 'lp', 'diff --calls 1 2', 'timeline', 'habits']
ELSEWHERE = ('eval', 'tape', 'check', 'export', 'replay', 'audit', 'alias', 'unalias', 'processes')    # see their own files


def text(line, context):
    return execute(line, context).text(100)


def numbers(line, context):
    return [call.number for call in execute(line, context).result.calls]


def test_every_command_is_tried_here():
    assert sorted([*(line.split()[0] for line in LINES), *ELSEWHERE]) == sorted(
        command.name for command in TABLE if not command.needs_stop and not command.needs_program)


def test_names_are_unique_and_described():
    names = list(TABLE.names)
    assert len(names) == len(set(names))
    for command in TABLE:
        assert command.help
        assert '\n' not in command.help
        assert command.group in GROUPS
        assert '--json' in parser_of(command).format_usage()


@pytest.mark.parametrize('line', LINES)
def test_every_command_answers_in_json(line, context):
    answer = execute(line + ' --json', context)
    assert json.loads(answer.json, parse_constant=pytest.fail)
    assert answer.text() == answer.json + '\n'


@pytest.mark.parametrize('line', LINES)
@pytest.mark.parametrize('width', [80, 160])
@pytest.mark.parametrize('color', [False, True])
def test_every_command_prints_within_the_console(line, width, color, context):
    file = io.StringIO()
    console = Console(width=width, file=file, force_terminal=color, legacy_windows=False, _environ={})
    execute(line, context).show(console)
    assert file.getvalue().strip()
    if not color:
        assert max(map(len, file.getvalue().splitlines())) <= width


def test_json_is_not_cut_at_the_console(context):
    file = io.StringIO()
    execute('call 3 --json', context).show(Console(width=40, file=file, _environ={}))
    assert json.loads(file.getvalue())['number'] == '3'


@pytest.mark.parametrize(('line', 'expected'), [
    ('calls', ['1', '2', '3', '4', '5']), ('calls --failed', ['5']), ('calls --bad', ['3', '4']), ('calls --printed', ['3']),
    ('calls --site "sc*"', ['2', '4']), ('calls --run 2', ['3', '4']), ('calls -n 2', ['1', '2']),
    ('calls -n 2 --newest', ['5', '4']), ('calls --bad --site norm', ['3']), ('calls --kind op', []),
    ('calls --kind all -n 1', ['1']), (['calls', '--site', 'n*'], ['1', '3', '5']),
])
def test_filters(line, expected, context):
    assert numbers(line, context) == expected


def test_the_list_says_what_was_asked_for(context):
    assert text('calls --bad --site norm -n 1', context).splitlines()[0] == '1 call   sort: time   filter: site norm, bad'
    assert text('calls -n 2', context).startswith('5 calls, 2 shown   sort: time   filter: none\n')


@pytest.mark.parametrize('name', ['3', '#3', 'norm[1]', "'norm[1]'"])
def test_calls_by_number_and_label(name, context):
    assert execute(f'call {name}', context).result.number == '3'


def test_a_node_name_is_its_newest_call(context):
    assert execute('call scale', context).result.number == '4'


def test_out_shows_everything_said(context):
    assert text('out 3', context).splitlines() == [
        'call #3 norm[1]  NaN 4', '+0.08 ms  out  row 1 constant',
        '+0.11 ms  fp   invalid: invalid value encountered in divide  model.py:44',
        '               44 | return (x - mu) / sd']


def test_tensors_are_sorted_and_judged(context):
    result = execute('lt --sort bad', context).result
    assert [call.number for call, _ in result.rows] == ['3', '4', '1', '2']
    assert (result.total, result.bad) == (4, 2)
    assert {number: finding.verdict for number, finding in result.verdicts.items()} == {'3': 'born', '4': 'inherited'}
    assert [t.name for _, t in execute('lt --bad --site scale', context).result.rows] == ['scale:0']
    assert [t.name for _, t in execute('lt --run 1 --sort name', context).result.rows] == ['norm:0', 'scale:0']
    assert execute('lt -n 1', context).result.total == 4


@pytest.mark.parametrize(('spec', 'title', 'shape'), [
    ('norm:0', 'output 0 of call #3 norm[1]', (3, 4)),      # the newest call raised and has none
    ('#1:0', 'output 0 of call #1 norm[0]', (3, 4)), ('norm[0]:in0', 'input 0 of call #1 norm[0]', (3, 4)),
    ('norm[1]', 'output 0 of call #3 norm[1]', (3, 4)), ('mm:0', 'input 0 of call #5 norm[2]', (3, 4)),
    ('norm:in0', 'input 0 of call #5 norm[2]', (3, 4)), ('norm[1]:0[1:3, 0]', 'output 0 of call #3 norm[1]', (2,)),
    ('norm:0[..., -1, -1]', 'output 0 of call #3 norm[1]', ()), ('1:out0', 'output 0 of call #1 norm[0]', (3, 4)),
])
def test_tensors_by_name(spec, title, shape, context):
    result = execute(f'pt {spec}', context).result
    assert (result.title, result.values.shape, result.tensor.shape) == (title, shape, shape)


def test_a_slice_has_statistics_of_its_own(context):
    assert execute('pt norm[1]:0[1]', context).result.tensor.stats.nan == 4
    assert execute('pt norm[1]:0[0]', context).result.tensor.stats.bad == 0
    assert text('pt norm[1]:0[1]', context).startswith('[1] of norm:0  float32 [4]  16 B  NaN 4, nothing finite')


def test_tensors_of_runs(context):
    runs = [replace(run, fetches=(tensor('loss:0', np.array(run.id)),)) for run in context.trace.runs()]
    trace = trace_of(context.trace.calls(), runs)
    result = execute('pt loss:0', Context(trace)).result
    assert (result.title, result.values.item()) == ('fetch of run #3', 3)


def test_node_names_with_colons_and_brackets():
    call = sample().call(1)
    odd = replace(call, site=replace(call.site, name='a:1/b[x]*'))
    trace = trace_of([odd], ())
    assert execute("pt 'a:1/b[x]*:0'", Context(trace)).result.title == 'output 0 of call #1 a:1/b[x]*[0]'


def test_options_of_pt(context):
    assert execute('pt norm:0 -s', context).result.values is None
    shown = text('pt norm[0]:in0 -r [[0,0],[1,inf]]', context)
    assert '10 of 12 elements in [0, 0], [1, inf], marked *' in shown
    assert '0.5 ' in shown
    assert text('pt norm[0]:0 -n 4', context).splitlines()[-1].startswith('... ')
    form = json.loads(execute('pt norm[1]:0 -n 5 --json', context).json)
    *first, last = form['values']['values']
    assert first == pytest.approx([-1.3416407, -0.4472136, 0.4472136, 1.3416407])
    assert last == 'NaN'
    assert (form['values']['size'], form['values']['shown']) == (12, 5)


def test_written_arrays_read_back(context, tmp_path):
    answer = execute(['pt', 'norm[1]:0[:, 1:]', '-w', str(tmp_path / 'out')], context)
    assert answer.result.file == str(tmp_path / 'out.npy')
    np.testing.assert_array_equal(np.load(tmp_path / 'out.npy'), sample().call(3).outputs[0].to_numpy()[:, 1:])
    with pytest.raises(CommandError, match=r"cannot write '.*nowhere.*out.npy': No such file"):
        execute(['pt', 'norm:0', '-w', str(tmp_path / 'nowhere' / 'out')], context)


def test_what_was_not_kept_is_said():
    call = sample().call(1)
    record = TensorRecord('norm:0', 'float32', (3, 4), 48, 'stats', Stats(12, pos=12, min=1, max=2), note='over budget')
    context = Context(trace_of([replace(call, outputs=(record,))], ()))
    assert 'elements not kept (over budget)' in text('pt norm:0', context)
    with pytest.raises(DroppedError):
        execute('pt norm:0[0]', context)


@pytest.mark.parametrize(('line', 'message'), [
    ('', 'no command given'), ('cals', "unknown command 'cals'. Did you mean 'calls'"),
    ('calls --faild', "Did you mean '--failed'"),
    ('calls --run x', "'x' is not an integer from 1"), ('calls -n 0', "'0' is not an integer"),
    ('calls --sort tim', "'time'"),
    ('calls extra', 'unrecognized arguments: extra'), ('call', 'the following arguments are required: CALL'),
    ('call 99', 'There is no call 99'), ('call nrm[1]', "Did you mean 'norm'"), ('pt nom:0', "Did you mean 'norm:0'"),
    ('pt norm:7', "no tensor 'norm:7'"), ('pt #5:0', 'call #5 norm[2] has 0 recorded outputs: it raised'),
    ('pt #3:in4', 'there is no input 4'), ('pt norm:0[9]', 'out of bounds'),
    ('pt norm:0[a]', "'a' in '[a]' is not an index"),
    ('pt norm:0 -r 1', 'is not a range'), ("pt ''", 'expected a tensor'), ('help cals', "Did you mean 'calls'"),
    ('runs', "'calls --kind run' shows that"), ('help errors', "'calls --failed' shows that"),
    ("call '3", 'is not closed'), ('calls --json=1', 'ignored explicit argument'), ('calls\x1b', 'unknown command'),
])
def test_wrong_lines_are_explained(line, message, context):
    with pytest.raises(CommandError) as caught:
        execute(line, context)
    assert message in str(caught.value)
    assert all(c.isprintable() for c in str(caught.value))


@pytest.mark.parametrize('line', sorted(set(COMMANDS_BY_NOUN.values())))
def test_the_command_for_a_plain_noun_is_one(line, context):
    try:
        execute(line, context)
    except CommandError as error:               # of a trace that has none of these
        assert 'unknown command' not in str(error) and 'usage' not in str(error).lower()


COMMANDS = st.sampled_from(['', 'pt ', 'call ', 'calls ', 'help ', 'lt '])


@given(st.tuples(COMMANDS, st.text(max_size=20)).map(''.join).filter(lambda line: '>>' not in line))
def test_no_line_does_anything_but_answer_or_raise_a_command_error(context, line):
    try:
        execute(line, context).text()
    except PyfuncdbgError as error:
        assert str(error)


def test_redirection_appends_plain_text(context, tmp_path):
    file = tmp_path / 'out file.txt'
    for line in (f"out 3 >> '{file}'", f"calls --json >> '{file}'"):
        answer = execute(line, context)
        assert answer.written == str(file)
    written = file.read_text()
    assert written.startswith('call #3 norm[1]  NaN 4\n+0.08 ms  out  row 1 constant\n')
    assert json.loads(written.splitlines()[-1])['total'] == 5
    with pytest.raises(CommandError, match='cannot write'):
        execute(f'calls >> {tmp_path}', context)


def test_a_picture_of_an_answer_is_a_document_of_its_own(context, tmp_path):
    file = tmp_path / 'bad.svg'
    assert execute(f'calls --bad >> {file}', context).written == str(file)
    first = file.read_text()
    shown = [''.join(node.itertext()).replace('\xa0', ' ') for node in ElementTree.fromstring(first).iter()
             if node.tag.endswith('}text')]
    assert shown[0] == '(pfd) calls --bad' and 'norm[1]' in ' '.join(shown)
    assert 'http' not in first.replace('http://www.w3.org/2000/svg', '')        # nothing is loaded from anywhere
    execute(f'out 3 >> {file}', context)                                        # another picture, not behind the first
    assert 'row 1 constant' in file.read_text().replace('&#160;', ' ') and 'norm[1]:0' not in file.read_text()
    ElementTree.parse(file)


@pytest.mark.parametrize('kept', ['<svg>mine</svg>', 'text'])
def test_a_picture_replaces_nothing_but_a_picture_of_ours(kept, context, tmp_path):
    file = tmp_path / 'mine.svg'
    file.write_text(kept)
    with pytest.raises(CommandError, match='pyfuncdbg did not write it'):
        execute(f'calls >> {file}', context)
    assert file.read_text() == kept


def test_words_from_a_shell_are_not_redirected(context, tmp_path):
    with pytest.raises(CommandError, match='unrecognized arguments'):
        execute(['calls', '>>', str(tmp_path / 'x')], context)


def test_help_of_one_command_and_minus_h_are_the_same(context):
    assert text('help pt', context) == text('pt -h', context) == text('print_tensor --help', context)
    assert text('help pt', context).startswith('usage: pt [-s]')
    assert json.loads(execute('help calls --json', context).json)['name'] == 'calls'


def test_help_lists_every_command_once(context):
    lines, _, topics = text('help', context).partition('\nmanual\n')
    assert topics
    for command in TABLE:
        assert lines.count(f'\n  {", ".join((command.name, *command.aliases))} ') == 1


def test_commands_that_need_a_stop_and_expressions(context, tmp_path):
    def arguments(parser):
        parser.add_argument('-n', type=int, default=1)
    echo = Command('echo', 'evaluate', 'look', lambda c, a: [c.stop, a.n, a.text], str, arguments, ('e',), needs_stop=True,
                   expression='text')
    table = CommandTable((*TABLE.entries, TableEntry.of(echo)))
    with pytest.raises(CommandError, match="'echo' needs a stopped thread"):
        execute('echo x', context, table)
    here = SimpleNamespace(remote=None)
    stopped = replace(context, stop=here)
    assert execute('e -n 2 x["a b"] >> 1 -- it\'s', stopped, table).result == [here, 2, 'x["a b"] >> 1 -- it\'s']
    assert execute('echo -h', context, table).result.usage == 'echo [-n N] [--json] [-h] TEXT'
