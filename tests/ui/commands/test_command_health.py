"""`health` on real runs: constructed cases with exact verdicts, and the line in a re-run."""
from __future__ import annotations

import contextlib
import json
import threading

import numpy as np
import pytest
from scripted_user import ScriptedUser

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.call import current
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute


@pytest.fixture
def recorded(tmp_path):
    """Records a program and gives the context of its trace."""
    with contextlib.ExitStack() as stack:
        def run(program, **options):
            with pyfuncdbg.record(tmp_path / f'{program.__name__}.pfd', **options) as recorder, np.errstate(all='ignore'):
                program()
            return Context(stack.enter_context(pyfuncdbg.load(recorder.path)), width=160)
        yield run


def verdicts(context, line='health'):
    """(node, kind, verdict, node of the origin) of each finding."""
    findings = execute(line, context).result.findings
    names = {finding.call.number: finding.call.site.name for finding in findings}
    return [(f.call.site.name, f.call.site.kind, f.verdict, names.get(f.origin, f.origin)) for f in findings]


def outcome_of(context, name):
    (found,) = [outcome for outcome in execute('health', context).result.outcomes if outcome.origin.call.site.name == name]
    return found


# ---------------------------------------------------------------- born, in three ways to run
def difference(x):
    top = x * np.float32(1e38) * np.float32(1e38)
    return top - top


def in_session(function, *values, ops=(), fetch='out:0'):
    with tf.Graph().as_default(), tf.Session() as session:
        inputs = [tf.placeholder(tf.float32, np.shape(value), name=f'x{i}') for i, value in enumerate(values)]
        made = tf.numpy_function(function, inputs, tf.float32, name='made')
        tf.multiply(made, 2.0, name='out')
        session.run(fetch, dict(zip(inputs, values, strict=True)))


@pytest.mark.parametrize('ops', [False, True])
def test_inf_minus_inf_in_a_session_reaches_the_fetch(recorded, ops):
    def program():
        in_session(difference, np.ones((2, 3), np.float32))
    context = recorded(program, ops=ops)
    expected = [('made', 'python', 'born', '')]
    if ops:
        expected = [('made', 'op', 'inherited', 'made'), *expected, ('out', 'op', 'inherited', 'made')]
    assert sorted(verdicts(context)) == sorted(expected)
    outcome = outcome_of(context, 'made')
    assert [(fetch.tensor.name, fetch.gap, fetch.certain) for fetch in outcome.fetches] == [('out:0', not ops, ops)]
    assert not outcome.gradient_only and outcome.origin.tensor.stats.first_bad == (0, 0)
    text = execute('health', context).text(160)
    assert 'BORN' in text and 'out0 NaN 6 of 6  [0, 0]' in text and 'reached fetch out:0 in run #' in text
    if ops:
        assert [call.site.name for call in outcome.fetches[0].path] == ['made', 'out']
    else:
        assert '-> (not recorded) -> fetch out:0' in text


@pytest.mark.parametrize('ops', [False, True])
def test_log_of_a_negative_in_eager_code(recorded, ops):
    def logarithm(x):
        return tf.math.log(x)

    def program():
        y = tf.py_function(logarithm, [tf.constant([1.0, -1.0])], tf.float32, name='log')
        tf.numpy_function(np.negative, [y], tf.float32, name='negative')
    context = recorded(program, ops=ops)
    found = verdicts(context)
    origin = 'Log' if ops else 'log'        # with nodes recorded, the inner one is nearer to the cause
    assert (('Log', 'op', 'born', '') in found) == ops
    assert ('log', 'python', 'inherited' if ops else 'born', origin if ops else '') in found
    assert ('negative', 'python', 'inherited', origin) in found
    outcome = outcome_of(context, origin)
    assert outcome.fetches == () and not outcome.gradient_only


@pytest.mark.parametrize('ops', [False, True])
def test_in_a_traced_function(recorded, ops):
    @tf.function
    def model(x):
        return tf.numpy_function(divide, [x, x - x], tf.float32, name='divide') + 1.0

    def program():
        model(tf.constant([0.0, 1.0]))
    context = recorded(program, ops=ops)
    (birth,) = [f for f in execute('health', context).result.findings if f.verdict == 'born']
    assert birth.call.site.name == 'divide' and birth.places[0].line == divide.__code__.co_firstlineno + 1
    assert birth.tensor.stats.nan == 1 and birth.tensor.stats.pos_inf == 1
    (fetch,) = outcome_of(context, 'divide').fetches
    assert fetch.source == 'model'


def divide(x, y):
    return x / y


def test_a_division_silenced_by_errstate_still_names_its_line(recorded):
    def silenced(x):
        with np.errstate(all='ignore'):
            return x / np.float32(0)

    def program():
        in_session(silenced, np.ones(3, np.float32))
    (finding,) = execute('health', recorded(program)).result.findings
    assert finding.verdict == 'born' and finding.places[0].line == silenced.__code__.co_firstlineno + 2


def test_nan_fed(recorded):
    def program():
        in_session(np.negative, np.array([0.0, np.nan], np.float32))
    context = recorded(program)
    assert verdicts(context) == [('made', 'python', 'fed', '')]
    (finding,) = execute('health', context).result.findings
    assert finding.tensor.name == 'x0:0' and finding.tensor.stats.first_bad == (1,)
    assert [fetch.tensor.name for fetch in outcome_of(context, 'made').fetches] == ['out:0']


def test_one_of_several_outputs(recorded):
    def split(x):
        return x, np.where(x > 1, np.float32(np.nan), x)

    def program():
        with tf.Graph().as_default(), tf.Session() as session:
            a, b = tf.numpy_function(split, [tf.constant([[1.0, 2.0]])], [tf.float32, tf.float32], name='two')
            session.run([tf.identity(a, name='clean'), tf.identity(b, name='dirty')])
    context = recorded(program)
    (finding,) = execute('health', context).result.findings
    assert (finding.verdict, finding.slot, finding.tensor.stats.first_bad, finding.places) == ('born', 1, (0, 1), ())
    assert [fetch.tensor.name for fetch in outcome_of(context, 'two').fetches] == ['dirty:0']
    assert f'health --line {finding.call.number} finds it' in execute('health', context).text(160)


def test_complex(recorded):
    def program():
        tf.numpy_function(lambda z: z / 0, [np.array([1 + 1j, 0j])], tf.complex128, name='c')
    (finding,) = execute('health', recorded(program)).result.findings
    assert finding.verdict == 'born' and finding.tensor.stats.bad == 2


# ---------------------------------------------------------------- masked, and gradients
def test_masked_by_where(recorded):
    def program():
        x = tf.constant([1.0, -1.0])
        tf.where(x > 0, tf.math.log(x), tf.zeros_like(x))
    context = recorded(program, ops=True)
    assert verdicts(context) == [('Log', 'op', 'born', ''), ('SelectV2', 'op', 'masked', 'Log')]
    outcome = outcome_of(context, 'Log')
    assert len(outcome.masked) == 1 and outcome.fetches == () and 'masked by #' in execute('health', context).text(160)


@pytest.mark.parametrize('ops', [False, True])
def test_the_gradient_of_a_masked_root_is_nan_in_the_gradient_only(recorded, ops):
    def program():
        x = tf.constant([0.0, 4.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.pow(x, 0.5) * 0.0)
        tape.gradient(y, x)
    context = recorded(program, ops=ops)
    found = verdicts(context)
    births = [entry for entry in found if entry[2] == 'born']
    assert len(births) == 1 and births[0][1] == ('op' if ops else 'gradient')
    assert ('Pow_grad', 'gradient', 'inherited' if ops else 'born', births[0][0] if ops else '') in found
    (outcome,) = execute('health', context).result.outcomes
    assert outcome.gradient_only and not outcome.fetches
    assert 'gradient only' in execute('health', context).text(80)


@pytest.mark.parametrize('ops', [False, True])
def test_a_gradient_that_is_fetched_reached_a_fetch(recorded, ops):
    def program():
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.placeholder(tf.float32, [2], name='x')
            y = tf.reduce_sum(tf.pow(x, 0.5) * 0.0, name='loss')
            session.run([y, tf.gradients(y, x)[0]], {x: [0.0, 4.0]})
    context = recorded(program, ops=ops)
    (outcome,) = execute('health', context).result.outcomes
    assert not outcome.gradient_only and len(outcome.fetches) == 1
    assert outcome.fetches[0].tensor.name.startswith('gradients/') and 'loss' not in outcome.fetches[0].tensor.name


def test_a_step_that_nobody_fetched_is_gradient_only_in_a_session_too(recorded):
    def program():
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.placeholder(tf.float32, [2], name='x')
            gradient = tf.gradients(tf.reduce_sum(tf.pow(x, 0.5) * 0.0), x)[0]
            session.run(tf.where(tf.math.is_nan(gradient), tf.zeros_like(gradient), gradient), {x: [0.0, 4.0]})
    (outcome,) = execute('health', recorded(program)).result.outcomes
    assert outcome.gradient_only and outcome.origin.call.site.kind == 'gradient'


def test_the_gradient_of_a_masked_root_is_nothing_where_tensorflow_says_so(recorded):
    def program():
        x = tf.constant([0.0, 4.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.sqrt(x) * 0.0)
        assert tape.gradient(y, x).numpy().tolist() == [0.0, 0.0]
    assert verdicts(recorded(program, ops=True)) == []


# ---------------------------------------------------------------- filters and mistakes
def test_filters(recorded):
    def program():
        in_session(difference, np.ones(2, np.float32))
        in_session(np.negative, np.ones(2, np.float32))
        in_session(divide, np.ones(2, np.float32), np.zeros(2, np.float32))
    context = recorded(program)
    runs = [run.id for run in context.trace.runs() if run.label == 'Session.run']
    assert len(verdicts(context)) == 2
    assert [f.call.run for f in execute(f'health --run {runs[2]}', context).result.findings] == [runs[2]]
    assert verdicts(context, f'health --run {runs[1]}') == []
    number = execute('health', context).result.findings[1].call.number
    assert [f.call.number for f in execute(f'health --call {number}', context).result.findings] == [number]
    assert len(execute('health -n 1', context).result.findings) == 1
    for line in ('health', 'health -n 1', f'health --line {number}'):
        assert json.loads(execute(line + ' --json', context).json, parse_constant=pytest.fail)


def test_a_clean_trace(recorded):
    def program():
        in_session(np.negative, np.ones(2, np.float32))
    context = recorded(program)
    assert 'No recorded call met NaN or Inf' in execute('health', context).text()
    assert '--ops' in execute('health', context).text()
    (call,) = context.trace.calls(kind='python')
    assert 'met no NaN or Inf' in execute(f'health --call {call.number}', context).text()
    assert 'no line to name' in execute(f'health --line {call.number}', context).text()     # a ufunc is no Python code


def test_values_that_were_not_examined_are_not_said_to_be_finite(recorded):
    def program():
        in_session(lambda x: np.full_like(x, np.nan), np.ones(2, np.float32))
        tf.numpy_function(lambda x: x, [np.ones(2, np.int32)], tf.int32)
    context = recorded(program, level='none')
    result = execute('health', context)
    assert (result.result.total, result.result.unexamined) == (0, 1)
    assert '1 call of the newest had values that were not examined' in result.text()
    number = context.trace.calls(kind='python')[1].number
    assert execute(f'health --call {number}', context).result.unexamined == 0


@pytest.mark.parametrize('ops', [True, False])
def test_only_where_no_nodes_were_asked_for_they_are_said_to_be_missing(recorded, ops):
    """A lone function in eager code is no other node: there is nothing that --ops would have added."""
    context = recorded(lambda: tf.numpy_function(lambda x: x, [1.0], tf.float64), ops=ops)
    for line in ('health', 'lp'):
        assert ('were not recorded' in execute(line, context).text()) is not ops
    assert execute('info', context).result.ops is ops


@pytest.mark.parametrize(('line', 'message'), [
    ('health --run 999999999', 'There is no run 999999999'), ('health --call 999999999', 'There is no call 999999999'),
    ('health --line 999999999', 'There is no call 999999999'), ('health --line nowhere', 'There is no call'),
    ('health --run x', 'not an integer'), ('health --line 1 --run 1', 'takes no other filter')])
def test_mistakes(recorded, line, message):
    def program():
        in_session(np.negative, np.ones(2, np.float32))
    with pytest.raises(CommandError, match=message):
        execute(line, recorded(program))


# ---------------------------------------------------------------- the line
def line_of(function, text):
    import inspect
    source, first = inspect.getsourcelines(function)
    (at,) = [first + i for i, line in enumerate(source) if text in line]
    return at


def masked_by_index(x):
    y = x.copy()
    n = int(y.argmax())
    y[n] = np.float32('nan')                    # in place
    return y * 2


def chosen(x):
    a = x + 1
    b = np.where(a > 2, np.float32(np.nan), a)  # no floating-point error: nobody warns
    return b.reshape(-1)


def product(x):
    big = np.array([[np.inf, -np.inf]], np.float32)
    m = big @ np.ones((2, 2), np.float32)       # inf - inf inside of matmul
    return x + m.sum()


def narrowed(x):
    counts = np.array([70_000, 1], np.int64)
    small = counts.astype(np.float16)           # beyond float16
    return x * small.astype(np.float32)


def called(x):
    def inner(values):
        made = values - values
        made.flat[0] = np.nan                   # in a helper
        return made
    return inner(x) + 1


def comprehended(x):
    rows = [np.float32(np.nan) if row > 1 else row for row in x]    # in a comprehension
    return np.array(rows, np.float32)


def written_by_out(x):
    y = np.zeros_like(x)             # what `empty` holds may be not finite
    with np.errstate(all='ignore'):
        np.divide(x, np.float32(0), out=y)      # by out=
    return y


def by_attribute(x):
    class Holder:
        pass
    holder = Holder()
    holder.buffer = x * 1
    holder.buffer[0] = np.inf                   # in an attribute
    return holder.buffer + 1


def sentinel(x):
    best = -np.inf
    for value in x:
        best = max(best, float(value))
    y = x - np.float32(best)
    y = np.where(y == 0, np.float32(np.nan), y)  # the cause; `best` was infinite, and harmless
    return y * 2


@pytest.mark.parametrize(('function', 'text', 'variable', 'index'), [
    (masked_by_index, '# in place', 'y', (1,)), (chosen, '# no floating-point', 'b', (1,)),
    (product, '# inf - inf', 'm', (0, 0)), (narrowed, '# beyond', 'small', (0,)), (called, '# in a helper', 'made', (0,)),
    (comprehended, '# in a comprehension', None, None), (written_by_out, '# by out', 'y', (0,)),
    (by_attribute, '# in an attribute', 'holder.buffer', (0,)), (sentinel, '# the cause', 'y', (1,))])
def test_line_names_line_and_variable(recorded, function, text, variable, index):
    def program():
        tf.numpy_function(function, [np.array([1.0, 5.0], np.float32)], tf.float32, name='f')
    context = recorded(program)
    report = execute('health --line f', context).result
    first = report.cause[0]
    assert (first.filename, first.line) == (__file__, line_of(function, text))
    assert text.split()[0] not in first.statement and report.same is True
    if variable is not None:
        assert (first.variable, first.tensor.stats.first_bad) == (variable, index)
    shown = execute('health --line f', context).text(160)
    assert 'was made again on its recorded inputs' in shown and f'test_command_health.py:{first.line}' in shown


def test_of_a_name_the_first_call_that_met_nan_is_made_again(recorded):
    """Not the newest, which found nothing."""
    def program():
        for value in (0.0, 5.0, 5.0, 0.0):
            tf.numpy_function(chosen, [np.array([value, 0.0], np.float32)], tf.float32, name='f')
    context = recorded(program)
    bad = [call.number for call in context.trace.calls(site='f') if call.outputs[0].stats.bad]
    assert len(bad) == 2
    shown = execute('health --line f', context).text(160)
    assert f'Call #{bad[0]} f[1] was made again' in shown and '# no floating-point' in shown
    assert 'f[3] was made again' in execute('health --line f[3]', context).text(160)


def test_operands_are_as_before_the_statement(recorded):
    def program():
        tf.numpy_function(masked_by_index, [np.array([1.0, 5.0], np.float32)], tf.float32, name='f')
    (first, last) = execute('health --line f', recorded(program)).result.cause
    operands = {operand.name: operand for operand in first.operands}
    assert operands['y'].tensor.stats.max == 5.0 and operands['y'].origin_index is None and not operands['y'].after_statement
    assert operands['n'].tensor.stats.max == 1
    assert last.variable == 'return value' and last.operands[0].origin_index is not None


def test_a_parameter_that_came_in_non_finite(recorded):
    def program():
        tf.numpy_function(np_twice, [np.array([np.nan], np.float32)], tf.float32, name='f')
    report = execute('health --line f', recorded(program)).result
    assert report.cause[0].is_parameter and report.cause[0].variable == 'values'


def np_twice(values):
    return values * 2


def test_tensors_of_a_py_function(recorded):
    def steps(x):
        y = x - 2.0
        z = tf.math.log(y)
        return z + 1.0

    def program():
        with tf.Graph().as_default(), tf.Session() as session:
            session.run(tf.py_function(steps, [tf.constant([3.0, 1.0])], tf.float32, name='f'))
            report.append(execute('health --line f', live()).result)

    def live():
        from pyfuncdbg.observers.debug.debugger import debugger
        return Context(debugger.live.trace(), debugger=debugger)
    report = []
    recorded(program)
    first = report[0].cause[0]
    assert (first.variable, first.line, first.tensor.stats.first_bad) == ('z', line_of(steps, 'tf.math.log'), (1,))
    assert [operand.name for operand in first.operands] == ['y']


def test_the_re_run_leaves_no_trace_in_the_program(recorded, capsys):
    v = tf.Variable(3.0)

    def noisy(x):
        print('said')
        v.assign_add(1.0)
        return x + np.float32(np.random.rand()) + np.float32(np.nan)

    def program():
        tf.numpy_function(noisy, [np.ones(2, np.float32)], tf.float32, name='f')
        capsys.readouterr()
        calls = trace_count()
        state, value = np.random.get_state()[1].tobytes(), float(v)
        from pyfuncdbg.observers.debug.debugger import debugger
        report = execute('health --line f', Context(debugger.live.trace(), debugger=debugger)).result
        assert capsys.readouterr().out == ''
        assert (np.random.get_state()[1].tobytes(), float(v)) == (state, value)
        assert [record.text for record in report.messages if record.kind == 'out'] == ['said\n']
        assert len(report.changed) == 1 and trace_count() == calls and current.get() is None
        reports.append(report)

    def trace_count():
        from pyfuncdbg.observers.debug.debugger import debugger
        return debugger.live.trace().count()
    reports = []
    recorded(program)
    assert reports[0].same is not None


def test_numbers_of_runs_and_calls_go_on_as_if_nothing_had_been(recorded):
    def program():
        tf.numpy_function(np_twice, [np.ones(2, np.float32)], tf.float32, name='f')
    context = recorded(program)
    from pyfuncdbg.hooks.call import CallSite, Run, new_call
    from pyfuncdbg.hosts.numpy.runtime.execution.host import host
    site = CallSite('s', 'S', 'python', host)
    before = new_call(site, Run('r', host, 0), [], 0, 0)
    execute('health --line f', context)
    after = new_call(site, Run('r', host, 0), [], 0, 0)
    assert (after.id - before.id, after.run.id - before.run.id) == (1, 1)


def test_a_function_that_is_gone(recorded):
    def program():
        tf.numpy_function(lambda x: x / 0, [np.ones(2, np.float32)], tf.float32, name='f')
    with pytest.raises(CommandError, match='keeps its function no longer'):
        execute('health --line f', recorded(program))


def test_inputs_that_were_not_kept(recorded):
    def program():
        tf.numpy_function(np_twice, [np.ones(200, np.float32)], tf.float32, name='f')
    with pytest.raises(CommandError, match=r'input 0 .*was not kept in full'):
        execute('health --line f', recorded(program, full_limit=100))


def test_a_gradient_call_has_no_lines(recorded):
    def program():
        x = tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.py_function(lambda a: a * a, [x], tf.float32, name='f')
        tape.gradient(y, x)
    context = recorded(program)
    (step,) = [call for call in context.trace.calls(kind='gradient') if call.site.name == 'f_grad']
    with pytest.raises(CommandError, match=f'backward step.*its forward call is #{step.forward}'):
        execute(f'health --line {step.number}', context)


def test_inside_of_a_trace_function(recorded):
    """As at a stop: Python traces nothing while a trace function runs, unless it is asked to."""
    import sys

    def program():
        tf.numpy_function(chosen, [np.array([1.0, 5.0], np.float32)], tf.float32, name='f')
    context = recorded(program)
    found = []

    def tracer(frame, event, arg):
        if event == 'line' and not found:
            found.append(execute('health --line f', context).result)
        return tracer

    def traced():
        x = 1
        return x + 1

    def on_a_thread():
        sys.settrace(tracer)
        traced()
        sys.settrace(None)
    thread = threading.Thread(target=on_a_thread)
    thread.start()
    thread.join()
    assert found[0].cause[0].variable == 'b'


# ---------------------------------------------------------------- at stops
@pytest.fixture
def set_breakpoint():
    """Sets breakpoints for one test."""
    made = []

    def set_one(*args):
        made.append(debugger.breakpoints.set(*args))
        debugger.start()
        return made[-1]
    yield set_one
    for one in made:
        debugger.breakpoints.clear(one.number)


def test_at_a_stop_an_eager_lambda_is_alive(tmp_path, set_breakpoint):
    with pyfuncdbg.record(tmp_path / 'stop.pfd'), ScriptedUser(['health', 'health --line f', 'cont']) as user:
        set_breakpoint('f', 'has_nan(out)')
        for value in (1.0, 2.0):
            tf.py_function(lambda x: tf.where(x > 1.5, np.nan, x), [value], tf.float32, name='f')
    assert user.phases == ['after']
    report, line = user.answers[:2]
    assert [finding.verdict for finding in report.findings] == ['born']
    assert line.same is True and line.cause[0].variable == 'return value'


def test_the_name_of_the_call_at_the_stop_means_that_call_whatever_came_since(tmp_path, set_breakpoint):
    def call(first):
        tf.numpy_function(chosen, [np.array([first, 5.0], np.float32)], tf.float32, name='f')

    def on_another_thread(_stop):
        thread = threading.Thread(target=call, args=(1.0,))
        thread.start()
        thread.join(20)

    with pyfuncdbg.record(tmp_path / 'stop.pfd'), ScriptedUser([on_another_thread, 'health --line f', 'cont']) as user:
        set_breakpoint('f', 'has_nan(out) and x[0] == 2')
        call(2.0)
    assert user.phases == ['after']
    assert user.answers[1].call.inputs[0].to_numpy().tolist() == [2, 5]


def test_at_a_line_breakpoint_the_re_run_neither_stops_nor_counts(tmp_path, set_breakpoint):
    line = line_of(chosen, '# no floating-point')
    with pyfuncdbg.record(tmp_path / 'stop.pfd'), ScriptedUser(['health --line f[0]', 'cont']) as user:
        made = set_breakpoint(f'{__file__}:{line}', 'x[0] == 2')
        for first in (1.0, 2.0):
            tf.numpy_function(chosen, [np.array([first, 5.0], np.float32)], tf.float32, name='f')
        hits = debugger.breakpoints.entry(made.number).hits
    assert user.phases == ['line'] and hits == 1
    assert (user.answers[0].cause[0].variable, user.answers[0].cause[0].line) == ('b', line)


def test_after_the_program_nothing_stops_in_a_re_run(tmp_path, set_breakpoint):
    line = line_of(chosen, '# no floating-point')
    with pyfuncdbg.record(tmp_path / 'stop.pfd') as recorder, ScriptedUser(['cont']) as user:
        set_breakpoint(f'{__file__}:{line}')
        tf.numpy_function(chosen, [np.array([1.0, 5.0], np.float32)], tf.float32, name='f')
        with recorder.trace() as trace:
            report = execute('health --line f', Context(trace)).result
    assert user.phases == ['line'] and report.cause[0].line == line


# ---------------------------------------------------------------- through the gradient of a traced function
@pytest.mark.parametrize(('root', 'values', 'births', 'gradient_only'), [
    (lambda x: tf.pow(x, 0.5) * 0.0, [0.0, 4.0], ['Pow'], True), (tf.sqrt, [-1.0, 2.0], ['Sqrt'], False)])
def test_a_gradient_through_a_function_in_a_traced_function_has_one_origin(recorded, root, values, births, gradient_only):
    """The backward function's node knows its inputs in part only; what happened in the steps inside it decides."""
    @tf.function
    def model(x):
        return tf.reduce_sum(tf.py_function(root, [x], tf.float32, name='root'))

    def program():
        x = tf.Variable(values)
        with tf.GradientTape() as tape:
            y = model(x)
        assert np.isnan(tape.gradient(y, x).numpy()[0])
    context = recorded(program, ops=True)
    report = execute('health', context).result
    assert [f.call.site.name for f in report.findings if f.verdict in ('born', 'suspected', 'entered', 'fed')] == births
    (origin,) = {f.origin for f in report.findings if f.verdict == 'inherited'}
    (outcome,) = report.outcomes
    assert outcome.origin.call.number == origin and outcome.origin.tensor.stats.first_bad == (0,)
    assert outcome.gradient_only == gradient_only
    assert [fetch.source for fetch in outcome.fetches] == ([] if gradient_only else ['model'])


def test_ops_that_look_at_the_shape_only_mask_nothing(recorded):
    @tf.function
    def model(x):
        x = tf.numpy_function(np.log, [x], tf.float32, name='log')
        return tf.shape(x), tf.rank(x), tf.size(x), tf.zeros_like(x), tf.ones_like(x), tf.math.is_nan(x)

    def program():
        model(tf.constant([-1.0]))
    context = recorded(program, ops=True)
    looked = {call.site.op_type for call in context.trace.calls(kind='op', bad=True)}
    assert {'Shape', 'Rank', 'Size', 'OnesLike', 'IsNan'} <= looked
    assert [(f.call.site.op_type, f.verdict) for f in execute('health', context).result.findings
            if f.call.site.kind == 'op' and f.verdict == 'masked'] == [('IsNan', 'masked')]
