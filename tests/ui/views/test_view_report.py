"""The run report: the needed line first, nothing when nothing is wrong."""
from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from written_trace import tensor, trace_of

from pyfuncdbg.observers.debug.numerics.nan_outcomes import HealthReport, outcomes
from pyfuncdbg.observers.debug.numerics.nan_verdicts import judge
from pyfuncdbg.observers.debug.reports.summary import summarize
from pyfuncdbg.observers.record.records import OutputRecord, Stats, TensorRecord
from pyfuncdbg.ui.views.numerics.health import health_view
from pyfuncdbg.ui.views.reports.info import info_view
from pyfuncdbg.ui.views.reports.report import report
from pyfuncdbg.ui.views.sample_trace import sample
from pyfuncdbg.ui.views.units import size


def lines_of(text):
    return [line.rstrip() for line in text.splitlines()]


def trace_with(*calls, runs=(), **how):
    return trace_of(calls, runs, **how)


def reported(draw, trace, width=100):
    return draw(report(summarize(trace)), width)


def test_birth_comes_first_with_line_source_and_cause(draw):
    lines = lines_of(reported(draw, sample()))
    assert lines[0].startswith('pyfuncdbg  3 runs, 5 calls of 2 Python functions in 1.25 s -> sample.pfd (2.')
    assert lines[2] == 'NaN born in call #3 norm[1], normalize at model.py:44'
    assert lines[5] == '  > 44 | return (x - mu) / sd'
    assert lines[6] == '  NumPy: invalid value encountered in divide'
    assert lines[7].startswith('output 0  norm:0  float32 [3, 4]  48 B  NaN 4  first bad [1, 0]; row 1 of 3')


def test_inputs_prints_and_consequences_follow(draw):
    text = reported(draw, sample())
    order = [text.index(part) for part in ('NaN born', 'in 0 x  mm:0', 'printed by this call', 'row 1 constant',
                                           '1 later call inherited it', 'AttributeError in call #5', 'site  ',
                                           "pyfuncdbg show sample.pfd pt '#3:in0[1]'")]
    assert order == sorted(order)


def test_offending_rows_of_a_large_input(draw):
    x = np.arange(32 * 64, dtype=np.float32).reshape(32, 64)
    x[7] = 5
    made = x.copy()
    made[7], made[9, 3] = np.nan, np.inf
    call = replace(sample().call(3), inputs=(tensor('images:0', x), tensor('k:0', np.float32([2, 3]))),
                   outputs=(tensor('norm:0', made),))
    lines = lines_of(reported(draw, trace_with(call)))
    assert any(line.endswith('first bad [7, 0]; 2 rows (7, 9) of 32') for line in lines)
    at = lines.index('  row 7  every element is 5')
    assert lines[at + 1] == '  row 9'
    assert lines[at + 2].split()[:4] == ['[0]', '576', '577', '578']


def test_clean_run_is_short(draw):
    text = reported(draw, trace_with(*sample().calls()[:2]))
    assert 'No call raised, and none made NaN or Inf.' in text
    assert 'NaN born' not in text
    assert len(text.splitlines()) < 14
    assert 'pyfuncdbg show sample.pfd calls ' in text


def test_a_run_without_wrapped_functions_says_so(draw):
    assert lines_of(reported(draw, trace_with())) == [
        f'pyfuncdbg  0 runs in 1.25 s -> sample.pfd ({size(trace_with().info().nbytes)})', '',
        'No wrapped function was called.', '',
        'pyfuncdbg open sample.pfd       the full screen', 'pyfuncdbg show sample.pfd info  what the trace holds']


def test_what_is_suggested_counts_what_it_lists(draw):
    """Calls of functions, which `calls` lists, apart from nodes and gradient steps, which it lists with `--kind all`."""
    bad, step = sample().call(3), replace(sample().call(3).site, id=9, kind='gradient', name='norm_grad', function='')
    later = [replace(bad, number=str(n), site=step, ordinal=n, started=2.0 + n, run=9, output=(), inputs=bad.outputs)
             for n in range(10, 14)]
    trace = trace_with(*sample().calls(), *later)
    lines = lines_of(reported(draw, trace, 120))
    assert "pyfuncdbg open sample.pfd                         the full screen" in lines
    assert (trace.count(kind='python', bad=True), trace.count(bad=True)) == (2, 6)
    assert "pyfuncdbg show sample.pfd calls --bad             the 2 calls that met NaN or Inf" in lines
    assert "pyfuncdbg show sample.pfd calls --bad --kind all  6 with gradient steps" in lines
    assert '1 later call and 3 gradient steps inherited it' in lines
    assert '1 later gradient step met NaN or Inf after it, by a way that was not recorded' in lines
    assert lines[-1] == '#3 counts all calls, gradient steps too; norm[1] those of norm, from 0; run #N counts runs'


def test_inputs_that_a_function_wrote_to(draw):
    call = sample().call(1)
    wrote = replace(call, inputs=(replace(call.inputs[0], changed=True), *call.inputs[1:]))
    text = reported(draw, trace_with(wrote, replace(wrote, number='7'), sample().call(2)))
    assert 'norm has an input that changed during 2 calls' in lines_of(text)
    assert 'pyfuncdbg show sample.pfd calls --changed  the 2 calls whose inputs changed' in lines_of(text)
    assert 'changed' not in reported(draw, sample())


def test_at_40_columns_no_word_is_broken_and_no_command(draw):
    lines = lines_of(reported(draw, sample(), 40))
    assert max(map(len, lines)) <= 40
    assert "  pt '#3:in0[1]'" in lines and '  calls --bad' in lines
    assert any(line.split()[:2] == ['norm', '3'] for line in lines)


def test_long_names_in_the_last_lines_are_shortened_not_broken(draw):
    call = sample().call(3)
    call = replace(call, site=replace(call.site, name='encoder/layer_with_a_long_name/attention/normalized_columns'))
    last = lines_of(reported(draw, trace_with(call), 40))[-4:]
    assert [line for line in last if '...' in line] == [
        'encoder/layer_with...malized_columns[1]', 'encoder/layer_with...normalized_columns,']


def test_births_in_a_loop_are_one_line(draw):
    birth = sample().call(3)
    calls = [replace(birth, number=str(n), ordinal=n, run=n, started=float(n)) for n in range(1, 41)]
    text = reported(draw, trace_with(*calls))
    assert text.count('born in call') == 2
    assert '39 other origins, by site:' in text
    assert 'NaN born in call #2 norm[2], normalize at model.py:44 and 38 more' in text


def test_without_a_line_from_numpy_it_says_why(draw):
    text = reported(draw, trace_with(replace(sample().call(3), output=())))
    assert 'NaN born in call #3 norm[1], normalize defined at model.py:39' in text
    assert 'NumPy named no line' in text


@pytest.mark.parametrize(('argv', 'said'), [
    (('train.py', 'a b'), "pyfuncdbg run --break norm --if 'has_inf_or_nan(out)' train.py 'a b', and at the stop: health"),
    (('-m', 'package.train'), "pyfuncdbg run --break norm --if 'has_inf_or_nan(out)' -m package.train, and"),
    (('/env/bin/ipython', '--pylab'), "%%pyfunc --break norm --if 'has_inf_or_nan(out)', and at the stop: health"),
    (('/env/lib/python3.12/site-packages/IPython/__main__.py',), "line: %%pyfunc --break norm --if"),
    (('/env/lib/python3.12/site-packages/ipykernel_launcher.py', '-f', 'x.json'), 'line: %%pyfunc --break norm'),
    (('-c',), "pyfuncdbg.break_at('norm', when='has_inf_or_nan(out)') in the program, and at the stop: health --line norm"),
    (('',), "pyfuncdbg.break_at('norm', when='has_inf_or_nan(out)') in the program, and at the stop: health --line norm")])
def test_what_finds_the_line_is_what_the_program_can_do_again(draw, argv, said):
    summary = summarize(trace_with(replace(sample().call(3), output=())))
    text = draw(report(replace(summary, info=replace(summary.info, argv=argv))), 300)
    assert said in text


def test_first_of_several_errors_leads_and_the_others_follow(draw):
    known = sample().call(3).site.source_at
    said = (OutputRecord('fp', 'overflow encountered in exp', 'over', 'model.py', 40), OutputRecord('out', 'hello'),
            OutputRecord('fp', 'invalid value encountered in divide', 'invalid', 'model.py', 44, _source=known))
    lines = lines_of(reported(draw, trace_with(replace(sample().call(3), output=said))))
    assert lines[2].endswith('at model.py:40')
    assert '  NumPy: overflow encountered in exp' in lines
    assert '  then   invalid value encountered in divide  model.py:44  return (x - mu) / sd' in lines


def test_a_suspicion_is_called_one(draw):
    call = sample().call(3)
    lost = replace(call.outputs[0], level='none', stats=None, note='over budget')
    text = reported(draw, trace_with(replace(call, outputs=(lost,))))
    assert 'NumPy reported an error in call #3 norm[1], normalize at model.py:44' in text
    assert 'whether NaN or Inf was among them is not known' in text
    assert 'born' not in text


def test_value_that_came_in_from_unrecorded_nodes(draw):
    text = reported(draw, trace_with(replace(sample().call(4), number='1')))
    assert "NaN came into call #1 scale[1] by input 0 'norm:0', scale defined at model.py:50" in text
    assert 'from nodes that --ops would record.' in text
    assert "pt '#1:in0[1]'" in text


def test_the_hint_is_not_what_is_done_already(draw):
    call = replace(sample().call(4), number='1')
    node = replace(sample().call(1), number='2', site=replace(sample().call(1).site, kind='op'))
    text = reported(draw, trace_with(call, node))
    assert 'NaN came into call #1' in text and 'from nodes of which nothing is known.' in text
    assert '--ops' not in text


def test_a_feed_that_no_recorded_call_took(draw):
    call = sample().call(4)
    fed = replace(sample().run(2), label='Session.run', feeds=(replace(call.inputs[0], name='x:0'),),
                  fetches=(replace(call.outputs[0], name='out:0'),))
    trace = trace_of([replace(call, number='1')], [fed])
    text = reported(draw, trace)
    assert "NaN was fed into run #2 as 'x:0'; no recorded call took it" in text
    assert '1 later call met NaN or Inf after it, by a way that was not recorded' in text
    assert 'pt x:0 --run 2' in text and '#-2' not in text
    health = judge(trace)
    found = HealthReport(health.findings, 2, {'fed': 1}, outcomes(trace, health), {}, 0, True, False)
    table = draw(health_view(found), width=140)
    assert 'run #2 ' in table and 'inherited from run #2?' in table and '#-2' not in table
    assert 'run #2 -> fetch out:0 in run #2' in table


def test_fed_values_and_bad_fetches(draw):
    call = sample().call(4)
    fed = replace(sample().run(2), feeds=(replace(call.inputs[0], name='norm:0'),),
                  fetches=(tensor('loss:0', np.float32(np.nan)),))
    again = replace(fed, id=3)
    text = reported(draw, trace_with(call, runs=(fed, again)))
    assert "NaN was fed into run #2 as 'norm:0', first met by call #4 scale[1]" in text
    assert "NaN reached fetch 'loss:0' in run #2, not finite in 2 runs" in text


def test_a_fetch_that_was_bad_before(draw):
    run = replace(sample().run(1), fetches=(tensor('loss:0', np.float32(np.nan)),))
    text = reported(draw, trace_with(sample().call(3), runs=(run,)))
    assert "NaN reached fetch 'loss:0' in run #1 already, before this call" in text


def test_a_fetch_of_a_run_around_the_call_is_after_it(draw):
    call = sample().call(3)
    run = replace(sample().run(1), started=call.started - 1, duration=5.0, fetches=(tensor('loss:0', np.float32(np.nan)),))
    assert "NaN reached fetch 'loss:0' in run #1\n" in re.sub(r' +\n', '\n', reported(draw, trace_with(call, runs=(run,))))


def test_a_result_without_a_name_is_of_its_run(draw):
    run = replace(sample().run(1), label='GradientTape.gradient', fetches=(tensor('', np.float32(np.nan)),))
    text = reported(draw, trace_with(sample().call(3), runs=(run,)))
    assert 'NaN reached a result of GradientTape.gradient in run #1' in text


def test_a_killed_program_is_not_said_to_have_called_nothing(draw):
    text = ' '.join(reported(draw, trace_with(complete=False)).split())
    assert ('No finished call is here. The recording has not been closed: the program still runs, was killed, or could not '
            'write.') in text
    assert 'No wrapped function was called' not in text
    assert 'the last calls may be missing' in ' '.join(reported(draw, trace_with(sample().call(1), complete=False)).split())
    assert 'may be missing' not in reported(draw, trace_with(sample().call(1)))


@pytest.mark.parametrize(('unclosed', 'whose'), [
    ((11,), 'the recording was'), ((12,), 'the log of process 12 was'), ((12, 13), 'the logs of processes 12, 13 were'),
    ((12, 13, 14, 15), 'the logs of processes 12, 13, 14, ... were')])
def test_it_says_which_processes_have_not_closed_their_logs(draw, unclosed, whose):
    summary = summarize(trace_with(sample().call(1), complete=False))
    info = replace(summary.info, processes=(11, 12, 13, 14, 15), unclosed=unclosed)
    assert f'{whose} not closed: still running' in draw(report(replace(summary, info=info)), 120)


def test_birth_in_a_gradient(draw):
    call = sample().call(3)
    backward = replace(call.site, kind='gradient', function='', source='')
    step = replace(call, number='9', forward='5', site=backward, output=())
    text = reported(draw, trace_with(sample().call(1), step))
    assert 'NaN born in gradient call #9 norm[1], backward of call #5, EagerPyFunc created at model.py:60' in text


def test_a_bad_fetch_without_a_bad_call(draw):
    run = replace(sample().run(1), fetches=(tensor('loss:0', np.float32(np.inf)),))
    text = reported(draw, trace_with(sample().call(1), runs=(run,)))
    assert "Inf reached fetch 'loss:0' in run #1" in text
    assert 'No recorded call made it: --ops records the nodes of the graph too.' in text
    assert 'none made NaN' not in text


def test_failures_that_are_the_same_are_counted(draw):
    failed = sample().call(5)
    calls = [replace(failed, number=str(n)) for n in range(1, 13)]
    text = reported(draw, trace_with(*calls))
    assert text.count('AttributeError in call') == 1
    assert '11 later calls raised the same' in text
    assert 'pyfuncdbg show sample.pfd call 1 ' in text


def test_failures_with_other_messages_are_told_apart(draw):
    failed = sample().call(5)
    said = ['row 3 has no price', 'row 14 has no price', 'no such kind', 'row 3 has no price']
    text = reported(draw, trace_with(*(replace(failed, number=str(n), error=replace(failed.error, message=message))
                                     for n, message in enumerate(said, 1))))
    assert '2 later calls raised the same with other numbers' in text
    assert "call #3 norm[2] raised AttributeError: no such kind" in text
    text = reported(draw, trace_with(*(replace(failed, number=str(n)) for n in (1, 2))))
    assert '1 later call raised the same\n' in text


def test_counts_that_are_cut_say_at_least(draw):
    failed = sample().call(5)
    trace = trace_with(*(replace(failed, number=str(n)) for n in range(1, 1103)))
    assert 'at least 999 later calls raised the same' in reported(draw, trace)
    runs = [replace(sample().run(1), id=n, fetches=(tensor('loss:0', np.float32(np.nan)),)) for n in range(1, 1103)]
    assert 'not finite in at least 1,000 runs' in reported(draw, trace_with(sample().call(1), runs=runs))


def test_losses_are_shown(draw):
    call = replace(sample().call(1), dropped={'tensors': 3}, duration=None)
    text = reported(draw, trace_with(call))
    assert re.search(r'not kept: tensors 3 \(\d+ B of the budget of 256 MB used\)', text)
    assert '1 call had not finished' in text


def test_at_a_stop_nothing_is_said_of_an_end(draw):
    for calls in ((), (replace(sample().call(1), duration=None),)):
        summary = replace(summarize(trace_with(*calls)), info=replace(trace_with().info(), complete=False))
        saved, live = draw(report(summary), 100), draw(report(replace(summary, live=True)), 100)
        assert 'killed' in saved and 'killed' not in live and 'ended' not in live
    assert '1 call had not finished yet' in live


def test_without_the_bytes_the_statistics_still_lead(draw):
    call = sample().call(3)
    out = TensorRecord('norm:0', 'float32', (3, 4), 48, 'stats', Stats(12, nan=4, pos=8, min=0, max=1, first_bad=(1, 0)))
    given = replace(call.inputs[0], level='none', stats=None)
    text = reported(draw, trace_with(replace(call, outputs=(out,), inputs=(given,))))
    assert 'NaN born in call #3' in text
    assert 'Not all inputs were kept' in text


def test_paths_are_quoted_for_the_shell(draw):
    trace = trace_of(sample().calls(), (), "my run's.pfd")
    assert """pyfuncdbg show 'my run'"'"'s.pfd' call 3""" in reported(draw, trace)


def test_info_says_whether_compiled_modules_recorded_it(draw):
    info = replace(sample().info(), versions={'pyfuncdbg': '1.2', 'NumPy': '2.0'})
    said = {True: 'pyfuncdbg 1.2 (compiled), NumPy 2.0', None: 'pyfuncdbg 1.2, NumPy 2.0',
            False: 'pyfuncdbg 1.2 (not compiled: recording takes more time), NumPy 2.0'}
    for compiled, line in said.items():
        assert f'with       {line}' in lines_of(draw(info_view(replace(info, compiled=compiled)), 120))
