"""graph, ni, li, lo, lp, ls, ps and timeline on traces of real programs, saved and at a stop."""
from __future__ import annotations

import json
import os
import threading
import time

import numpy as np
import pydot
import pytest
from test_command_graph import Program, debugger, typing

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.record.sources.source_text import DIFFERS, NOT_HERE
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute


def slow(x):
    time.sleep(0.02)
    with np.errstate(invalid='ignore'):         # of infinities
        return x - x.mean()


def quick(x):
    return x * np.float32(2)


def breaks(x):
    raise ValueError('on purpose')


HERE = 'test_command_nodes.py'
SLOW_LINE = slow.__code__.co_firstlineno


@pytest.fixture(scope='module')
def recorded(tmp_path_factory):
    path = tmp_path_factory.mktemp('nodes') / 'nodes.pfd'
    with pyfuncdbg.record(path, ops=True), tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name='x')
        with tf.device('/cpu:0'), tf.name_scope('part'):
            centred = tf.numpy_function(slow, [x], tf.float32, name='centred')
            centred.set_shape([2])
            scaled = tf.multiply(centred, tf.constant([3.0, 0.5], name='factors'), name='scaled')
        twice = tf.numpy_function(quick, [scaled], tf.float32, name='twice')
        with tf.control_dependencies([tf.no_op(name='gate')]):
            total = tf.add(twice, scaled, name='total')
        broken = tf.numpy_function(breaks, [total], tf.float32, name='breaks')
        never = tf.negative(broken, name='never')
        with tf.Session(graph=graph) as session:
            with pytest.raises(tf.errors.OpError):
                session.run(never, {x: [1.0, 3.0]})
            for values in ([1.0, 3.0], [2.0, 8.0], [0.0, np.inf]):
                session.run(total, {x: values})
    with pyfuncdbg.load(path) as trace:
        yield Context(trace)


def text(line, context, width=100):
    return execute(line, context).text(width)


def rows(line, context):
    return [(row.depth, row.node, row.listed_at, row.hidden) for row in execute(line, context).result.lineage.rows]


# ---------------------------------------------------------------- ni
def test_the_card_has_inputs_outputs_values_and_where_it_was_made(recorded):
    card = execute('ni scaled', recorded).result
    assert (card.name, card.site.op_type, card.calls, card.kind) == ('part/scaled', 'Mul', 4, 'node')
    assert [(given.use.tensor, given.kind) for given in card.inputs] == [
        ('part/centred:0', 'node'), ('part/factors:0', 'constant')]
    assert card.inputs[1].constant.first == (3.0, 0.5)
    (made,) = card.outputs
    assert {use.node for use in made.users} == {'twice', 'total'} and made.value.stats.nan == 1
    assert 'CPU:0' in card.device.upper()
    shown = text('ni scaled', recorded)
    assert f'{HERE}:' in shown and "name='scaled')" in shown and 'float32[2] = 3 0.5' in shown and 'NaN 1' in shown


def test_a_wrapped_function_is_counted_once(recorded):
    card = execute('ni centred', recorded).result
    assert (card.bad, recorded.trace.call(card.first_bad).label) == (1, 'part/centred[3]')
    assert card.calls == 4 and card.total >= 0.08 and card.newest.label == 'part/centred[3]'
    assert f'slow  {__file__}:{SLOW_LINE}' in text('ni centred', recorded, 200)


@pytest.mark.parametrize('named', ['total', 'total:0', 'total[1]'])
def test_names_of_a_node(recorded, named):
    assert execute(f'ni {named}', recorded).result.name == 'total'


def test_a_call_number_and_a_function_name_a_node(recorded):
    number = execute('calls --site quick', recorded).result.calls[1].number
    card = execute(f'ni #{number}', recorded).result
    assert card.name == 'twice' and card.run == recorded.trace.call(number).run
    assert execute('ni slow', recorded).result.name == 'part/centred'


def test_control_inputs_feeds_and_nodes_that_did_not_run(recorded):
    assert execute('ni total', recorded).result.before == ('gate',)
    assert execute('ni gate', recorded).result.after == ('total',)
    feed = execute('ni x', recorded).result
    assert feed.kind == 'feed' and feed.outputs[0].users[0].node == 'part/centred'
    never = execute('ni never', recorded).result
    assert never.newest is None and never.calls == 0 and 'did not run' in text('ni never', recorded)


def test_values_of_one_run(recorded):
    first = min(call.run for call in recorded.trace.calls(site='total'))
    card = execute(f'ni total --run {first}', recorded).result
    assert card.outputs[0].value.to_numpy().tolist() == [-9.0, 1.5] and card.calls == 1
    assert 'run #' in text(f'ni total --run {first}', recorded)


def test_options_of_the_card(recorded):
    assert 'calls, the newest first' in text('ni -d total', recorded)
    assert len(execute('ni -d total', recorded).result.dumps) == 4
    short, whole = text('ni total', recorded), text('ni -t total', recorded, 200)
    assert 'frames further out, -t shows all' in short and 'further out' not in whole
    assert whole.count(' in ') > short.count(' in ') and 'pytest' in whole


def test_unknown_nodes(recorded):
    with pytest.raises(CommandError, match=r"no node 'scald' in this trace\. Did you mean 'scaled'"):
        execute('ni scald', recorded)
    with pytest.raises(CommandError, match='There is no run 12345'):
        execute('li total --run 12345', recorded)
    with pytest.raises(CommandError, match='expected a node'):
        execute("ni ' '", recorded)


# ---------------------------------------------------------------- li and lo
def test_each_node_is_printed_once(recorded):
    found = rows('li total', recorded)
    assert found[0] == (0, 'total', '', 0)
    assert sum(node == 'part/scaled' and not again for _, node, again, _ in found) == 1
    assert (1, 'part/scaled', '', 0) in found and (2, 'part/scaled', 'below', 0) in found      # open where it is nearer
    assert {node for _, node, _, _ in found} == {'total', 'twice', 'part/scaled', 'part/centred', 'part/factors', 'x'}
    shown = text('li total', recorded)
    assert '^ its inputs are listed below' in shown and shown.startswith('5 nodes' if 'gate' in shown else '4 nodes')


def test_depth_control_types_and_limits(recorded):
    assert rows('li -d 1 total', recorded) == [(0, 'total', '', 0), (1, 'twice', '', 1), (1, 'part/scaled', '', 2)]
    assert '... 2 further' in text('li -d 1 total', recorded)
    assert (1, 'gate', '', 0) in rows('li -c total', recorded) and '^ctrl gate' in text('li -c total', recorded)
    assert '[AddV2]' in text('li -t total', recorded) and '[AddV2]' not in text('li total', recorded)
    assert len(rows('li -n 2 total', recorded)) == 2 and ', 1 shown' in text('li -n 2 total', recorded).splitlines()[0]


def test_outputs(recorded):
    found = rows('lo x', recorded)
    assert [node for depth, node, _, _ in found if depth == 1] == ['part/centred']
    assert 'total in1' in text('lo scaled', recorded)
    assert [node for depth, node, _, _ in rows('lo factors', recorded) if depth == 1] == ['part/scaled']


# ---------------------------------------------------------------- graph and diagrams
def test_the_list_of_nodes(recorded):
    result = execute('graph', recorded).result
    names = [row.site.name for row in result.rows]
    assert names.index('part/centred') < names.index('part/scaled') < names.index('total') and result.feeds == ('x:0',)
    shown = text('graph', recorded)
    assert 'did not run' in shown and '1 bad NaN 1' in text('graph', recorded, 160) and 'order v' in shown
    assert execute('graph --sort time -n 1', recorded).result.rows[0].site.name == 'part/centred'
    assert [row.site.name for row in execute('graph --site MUL*', recorded).result.rows] == []
    assert [row.site.name for row in execute('graph --site Mul', recorded).result.rows] == ['part/scaled']


def test_the_graph_as_dot(recorded):
    (graph,) = pydot.graph_from_dot_data(text('graph --as dot', recorded, 20))         # never cut at the console's width
    labels = {node.get_name(): node.get_label() for node in graph.get_nodes() if node.get_label()}
    names = {place: label.strip('"').split('\\n')[0] for place, label in labels.items()}
    joined = {(names[edge.get_source()], names[edge.get_destination()]) for edge in graph.get_edges()}
    assert {('x', 'part/centred'), ('part/centred', 'part/scaled'), ('part/factors', 'part/scaled'), ('twice', 'total'),
            ('gate', 'total')} <= joined
    assert any('NaN or Inf' in label for label in labels.values())


def test_diagrams_of_trees(recorded):
    shown = text('li total --as mermaid', recorded)
    assert shown.startswith('flowchart TD\n') and '"total<br/>AddV2<br/>float32[2]' in shown
    (graph,) = pydot.graph_from_dot_data(text('lo x --as dot', recorded))
    assert len(graph.get_edges()) == 5
    with pytest.raises(CommandError, match="'svg' is not a form: expected text, mermaid or dot"):
        execute('graph --as svg', recorded)


# ---------------------------------------------------------------- lp, ls, ps
def test_time_of_their_own_adds_up(recorded):
    result = execute('lp', recorded).result
    assert result.rows[0].name == 'part/centred' and result.rows[0].calls == 4 and result.rows[0].own >= 0.06
    outermost = [call.duration for call in recorded.trace.calls() if not call.parent]
    assert len(outermost) == 21 and result.own == pytest.approx(sum(outermost), rel=1e-6)
    assert sum(row.own for row in execute('lp --by line -n 999', recorded).result.rows) == pytest.approx(result.own)


def test_ways_to_add_up(recorded):
    by_function = {row.name: row for row in execute('lp --by function', recorded).result.rows}
    assert (by_function['slow'].line, by_function['slow'].calls) == (SLOW_LINE, 4)
    by_line = execute('lp --by line', recorded).result.rows[0]
    assert by_line.filename == __file__ and 'centred = tf.nump' in text('lp --by line', recorded, 160)
    assert {row.name for row in execute('lp --by type', recorded).result.rows} >= {'PyFunc', 'Mul', 'AddV2'}
    assert [row.filename for row in execute('lp --by file', recorded).result.rows] == [__file__]


def test_filters_of_the_profile(recorded):
    assert [row.name for row in execute('lp --over 50ms', recorded).result.rows] == ['part/centred']
    assert [row.name for row in execute('lp --site quick', recorded).result.rows] == ['twice']
    assert execute('lp --file no_such.py', recorded).result.total == 0
    assert 'self at least 0.05 s' in text('lp --over 50ms', recorded)
    names = [row.name for row in execute('lp --sort name', recorded).result.rows]
    assert names == sorted(names) and [row.name for row in execute('lp --sort name -r', recorded).result.rows] == names[::-1]
    with pytest.raises(CommandError, match='is not a time: expected a form such as'):
        execute('lp --over fast', recorded)


def test_source_files(recorded):
    (row,) = execute('ls', recorded).result.rows
    assert row.filename == __file__ and row.functions >= 2 and row.nodes >= 6
    assert execute('ls --path */none/*', recorded).result.total == 0


def test_functions_of_one_name_in_a_file_are_counted_each(tmp_path):
    with pyfuncdbg.record(tmp_path / 'lambdas.pfd'):
        for function in (lambda x: x * 2,
                         lambda x: x + 1,
                         lambda x: x - 1):
            for _ in range(2):
                tf.numpy_function(function, [np.ones(1)], tf.float64, name='f')
    with pyfuncdbg.load(tmp_path / 'lambdas.pfd') as trace:
        (row,) = execute('ls', Context(trace)).result.rows
        assert row.functions == 3 and '6 calls of 3 Python functions' in execute('report', Context(trace)).text(100)


def test_annotated_source(recorded):
    result = execute(f'ps {HERE}', recorded).result.source
    lines = {line.number: line for line in result.lines}
    assert [node.mark.site.name for node in lines[SLOW_LINE].nodes] == ['part/centred']
    made = next(line for line in result.lines if 'tf.numpy_function(slow' in line.text)
    assert made.own >= 0.06 and made.nodes[0].mark.site.name == 'part/centred'
    shown = text(f'ps {HERE}', recorded)
    assert 'called by part/centred PyFunc  4x' in shown and '1 bad' in shown
    assert execute(f'ps {HERE}:{made.number}', recorded).result.source.lines[0].number == made.number - 8
    with pytest.raises(CommandError, match="Did you mean 'test_command_nodes"):
        execute('ps test_comand_nodes.py', recorded)
    with pytest.raises(CommandError, match='no line 99999'):
        execute(f'ps {HERE}:99999', recorded)


def test_a_file_that_has_changed_or_gone(tmp_path, monkeypatch):
    program = tmp_path / 'there' / 'model.py'
    program.parent.mkdir()
    program.write_text('import numpy as np\nfrom pyfuncdbg import tf\n\n\ndef half(x):\n    return x / 2\n\n\n'
                       'print(tf.numpy_function(half, [np.float32(3)], tf.float32))\n')
    os.utime(program, (1, 1))                   # older than the process, which has not loaded anything else then
    with pyfuncdbg.record(tmp_path / 'moved.pfd'):
        exec(compile(program.read_text(), str(program), 'exec'), {'__name__': 'model'})
    with pyfuncdbg.load(tmp_path / 'moved.pfd') as trace:
        context = Context(trace)
        assert execute('ps model.py', context).result.source.warnings == ()
        assert execute('ps model.py --all', context).result.source.lines[0].text == 'import numpy as np'
        recorded = program.read_text()
        program.write_text('# SECRET\n' + recorded)
        changed = execute('ps model.py --all', context).result.source
        assert changed.warnings == (f'{DIFFERS}: only lines that the trace holds are shown',) and changed.read == ''
        assert 'SECRET' not in text('ps model.py --all', context) and DIFFERS in text('ls', context)
        program.unlink()
        gone = execute('ps model.py', context).result.source
        assert gone.read == '' and 'not on this machine' in gone.warnings[0]
        assert [line.text for line in gone.lines if line.has_text][:2] == ['def half(x):', '    return x / 2']
        assert NOT_HERE in text('ls', context)
        monkeypatch.chdir(tmp_path)
        (tmp_path / 'model.py').write_text('# SECRET\n' * 20)
        assert 'SECRET' not in text('ps model.py --all', context)
        (tmp_path / 'model.py').write_text(recorded)
        moved = execute('ps model.py', context).result.source
        assert moved.read == str(tmp_path / 'model.py')
        assert moved.warnings == (f'{program} is not on this machine: this is model.py',)


# ---------------------------------------------------------------- timeline
def test_calls_of_threads_lie_beside_each_other(tmp_path):
    def work():
        tf.numpy_function(slow, [np.float32([1, 2])], tf.float32)
    with pyfuncdbg.record(tmp_path / 'threads.pfd', ops=True):
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    with pyfuncdbg.load(tmp_path / 'threads.pfd') as trace:
        window = execute('timeline', Context(trace)).result.timeline
        assert len(window.lanes) == window.threads == window.total == 3
        assert all([span.kind for row in lane.rows for span in row] == ['python'] for lane in window.lanes)
        assert execute('timeline --kind op', Context(trace)).result.timeline.total == 0
        shown = text('timeline', Context(trace))
        assert shown.count('[PyFunc') == 3 and shown.splitlines()[0].startswith('3 calls')
        with pytest.raises(CommandError, match='there is nothing between'):
            execute('timeline --from 9s --to 8s', Context(trace))
        with pytest.raises(CommandError, match='is not a time'):
            execute('timeline --from soon', Context(trace))


def test_a_part_of_the_timeline(recorded):
    whole = execute('timeline', recorded).result.timeline
    part = execute(f'timeline --to {(whole.start + (whole.end - whole.start) / 4) * 1e3:.6f}', recorded).result.timeline
    assert 0 < part.total < whole.total
    around = execute('timeline --call twice[0]', recorded).result.timeline
    assert any(span.label == 'twice[0]' for lane in around.lanes for row in lane.rows for span in row)


# ---------------------------------------------------------------- at a stop
def test_at_a_stop_the_values_of_the_run_are_shown():
    program = Program()
    with typing('cont', nodes=False) as typist:
        typist.lines = iter(['cont', 'ni py', 'li scaled', 'graph', 'lo half', 'ps test_command_graph.py', 'lp', 'timeline',
                             'ni out', 'cont'])
        debugger.breakpoints.set('scaled')
        try:
            assert program.run() == [20.25, 30.25]
        finally:
            for entry in list(debugger.breakpoints.entries):
                debugger.breakpoints.clear(entry)
    assert not any(isinstance(answer, str) for answer in typist.answers), typist.answers
    card, tree, graph = typist.answers[1], typist.answers[2].lineage, typist.answers[3]
    assert card.outputs[0].value.to_numpy().tolist() == [2.0, 3.0] and card.run is not None
    assert [row.value.to_numpy().tolist() for row in tree.rows if row.node == 'py'] == [[2.0, 3.0]]
    assert {row.site.name for row in graph.rows} >= {'half', 'py', 'up', 'scaled', 'out'}
    assert typist.answers[8].newest is None and 'its calls were not recorded' in typist.texts[8]
    assert 'ops not recorded' in typist.texts[3] and 'did not run' not in typist.texts[3]


def test_at_a_stop_in_a_loop_values_around_it_are_not_those_of_its_body(tmp_path):
    """Nodes of the body have names of nodes around it, and the run's view is about the body."""
    @tf.function
    def whole(x):
        outside = tf.negative(x, name='same')

        def body(i, values):
            grown = tf.numpy_function(quick, [tf.multiply(values, 10.0, name='same')], tf.float32, name='in_body')
            grown.set_shape([2])
            return i + 1, grown
        return tf.while_loop(lambda i, values: i < 1, body, [tf.constant(0), outside])[1]

    with pyfuncdbg.record(tmp_path / 'live.pfd', ops=True), typing('cont', nodes=False) as typist:
        typist.lines = iter(['graph', 'li while', 'cont'])
        debugger.breakpoints.set('in_body')
        try:
            assert whole(tf.constant([1.0, 2.0])).numpy().tolist() == [-20, -40]
        finally:
            for entry in list(debugger.breakpoints.entries):
                debugger.breakpoints.clear(entry)
    assert not any(isinstance(answer, str) for answer in typist.answers), typist.answers
    values = [row.value.to_numpy().tolist() for row in typist.answers[0].rows if row.site.name == 'same' and row.value]
    values += [row.value.to_numpy().tolist() for row in typist.answers[1].lineage.rows if row.node == 'same']
    assert values == [[-1, -2]] * 2


def test_at_a_stop_with_nodes_recorded_what_has_not_run_may_run_yet(tmp_path):
    program = Program()
    with pyfuncdbg.record(tmp_path / 'live.pfd', ops=True), typing('cont', nodes=False) as typist:
        typist.lines = iter(['cont', 'graph', 'ni out', 'ni half', 'cont'])
        debugger.breakpoints.set('scaled')
        try:
            assert program.run() == [20.25, 30.25]
        finally:
            for entry in list(debugger.breakpoints.entries):
                debugger.breakpoints.clear(entry)
    assert 'not yet' in typist.texts[1] and 'did not run' not in typist.texts[1]
    assert 'has not run yet' in typist.texts[2] and '1 call,' in typist.texts[3]


@pytest.mark.parametrize('line', ['graph', 'ni total', 'li total', 'lo x', 'lp', 'ls', f'ps {HERE}', 'timeline',
                                  'graph --as dot', 'li total --as mermaid'])
def test_every_answer_is_plain_data(recorded, line):
    assert json.loads(execute(f'{line} --json', recorded).json, parse_constant=pytest.fail)


def test_eager_calls_are_in_no_graph(tmp_path):
    with pyfuncdbg.record(tmp_path / 'eager.pfd', ops=True):
        tf.numpy_function(quick, [np.float32([1, 2])], tf.float32, name='eagerly')
    with pyfuncdbg.load(tmp_path / 'eager.pfd') as trace:
        context = Context(trace)
        assert 'called eagerly' in text('ni quick', context)
        with pytest.raises(CommandError, match='no graph ran in this trace'):
            execute('graph', context)


def test_nodes_inside_of_a_loop(tmp_path):
    with pyfuncdbg.record(tmp_path / 'loop.pfd', ops=True), tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name='x')

        def body(i, values):
            halved = tf.numpy_function(quick, [values], tf.float32, name='in_loop')
            halved.set_shape([2])
            return i + 1, tf.add(halved, 1.0, name='plus')
        out = tf.while_loop(lambda i, values: i < 3, body, [tf.constant(0), x])[1]
        with tf.Session(graph=graph) as session:
            session.run(out, {x: [1.0, 2.0]})
    with pyfuncdbg.load(tmp_path / 'loop.pfd') as trace:
        context = Context(trace)
        assert [node for _, node, _, _ in rows('lo in_loop', context)] == ['in_loop', 'plus']
        card = execute('ni plus', context).result
        assert card.calls == 3 and card.inputs[0].op_type == 'PyFunc' and card.inputs[1].constant.first == (1.0,)
        assert 'inside of a run' in text('ni plus', context) and 'quick' in text('ni in_loop', context)


def test_backward_steps_and_eager_ops_have_cards(tmp_path):
    with pyfuncdbg.record(tmp_path / 'steps.pfd', ops=True):
        x = tf.constant([1.0, 2.0])
        for _ in range(2):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(tf.exp(x))
            tape.gradient(y, x)
        tf.exp(x)
    with pyfuncdbg.load(tmp_path / 'steps.pfd') as trace:
        context = Context(trace)
        step = next(site.name for site in trace.sites() if site.kind == 'gradient' and site.op_type == 'Exp')
        card = execute(f'ni {step}', context).result
        assert card.calls == 2 and card.outputs[0].value.to_numpy().tolist() == np.exp(np.float32([1, 2])).tolist()
        assert 'a backward step' in text(f'ni {step}', context)
        eager = execute('ni Exp', context).result
        assert eager.inputs[0].value.to_numpy().tolist() == [1.0, 2.0] and len(eager.namesakes) == 1
        assert '1 further site of that name' in text('ni Exp', context) and 'not used' not in text('ni Exp', context)


def test_nodes_of_one_name_in_several_graphs_are_kept_apart(tmp_path):
    with pyfuncdbg.record(tmp_path / 'maps.pfd', ops=True):
        numbers = tf.data.Dataset.range(3).map(lambda i: tf.cast(i, tf.float32))
        made = numbers.map(lambda x: tf.numpy_function(quick, [x], tf.float32)).map(
            lambda x: tf.numpy_function(np.negative, [x], tf.float32))
        assert [float(x) for x in made] == [0.0, -2.0, -4.0]
    with pyfuncdbg.load(tmp_path / 'maps.pfd') as trace:
        context = Context(trace)
        card = execute('ni quick', context).result
        assert card.outputs[0].value.to_numpy() == 4.0 and card.calls == 3 and 'further site of that name' in text(
            'ni quick', context)
        rows_of = [row for row in execute('lp', context).result.rows if row.function in ('quick', 'negative')]
        assert sorted((row.function, row.calls) for row in rows_of) == [('negative', 3), ('quick', 3)]


def values_of(line, context):
    """By node: the elements of its value in the tree that a line lists."""
    return {row.node: row.value.to_numpy().tolist() for row in execute(line, context).result.lineage.rows if row.value}


def test_values_beside_each_other_are_of_one_run(tmp_path):
    with pyfuncdbg.record(tmp_path / 'runs.pfd', ops=True), tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name='x')
        first = tf.numpy_function(quick, [x], tf.float32, name='first')
        tf.add(first, 1.0, name='second')
        with tf.Session(graph=graph) as session:
            session.run('second:0', {x: [1.0, 2.0]})
            session.run(first, {x: [10.0, 20.0]})
    with pyfuncdbg.load(tmp_path / 'runs.pfd') as trace:
        context = Context(trace)
        older, newer = (run.id for run in trace.runs())
        assert values_of('li second', context) == {'x': [1, 2], 'first': [2, 4], 'second': [3, 5]}
        assert f'values: run #{older}' in text('li second', context)
        assert values_of('lo first', context) == {'first': [20, 40]} and f'values: run #{newer}' in text('lo first', context)
        assert values_of(f'lo first --run {older}', context) == {'first': [2, 4], 'second': [3, 5]}
        card = execute('ni second', context).result
        assert card.inputs[0].value.to_numpy().tolist() == [2, 4] and card.calls == 1
        assert f'inputs (2), values of run #{older}' in text('ni second', context)
        assert execute('ni first', context).result.calls == 2
        shown = text('graph', context, 160)
        assert f'values: run #{newer}' in shown and f'not in run #{newer}' in shown and '= 20 40' in shown
        assert f'// values of run #{newer}' in text('graph --as dot', context)
        assert f'%% values of run {older}' in text('li second --as mermaid', context)


def test_a_consumer_is_shown_with_all_its_outputs(tmp_path):
    """Of a loop the first one counts iterations, whatever goes in."""
    with pyfuncdbg.record(tmp_path / 'outputs.pfd', ops=True), tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name='x')
        small, large = tf.unstack(tf.negative(x, name='turned'), name='parts')
        with tf.Session(graph=graph) as session:
            session.run([small, large], {x: [1.0, 2.0]})
    with pyfuncdbg.load(tmp_path / 'outputs.pfd') as trace:
        context = Context(trace)
        row = execute('lo turned', context).result.lineage.rows[1]
        assert (row.node, row.value.to_numpy()) == ('parts', -1)
        assert [(slot, one.to_numpy()) for slot, one in row.further] == [(1, -2)]
        assert 'parts  float32[] = -1  :1 float32[] = -2' in text('lo turned', context)
        assert all(not row.further for row in execute('li parts', context).result.lineage.rows[1:])


def test_what_a_function_returns_is_taken_where_it_is_called(tmp_path):
    def body(i, values):
        grown = tf.numpy_function(quick, [values], tf.float32, name='grown')
        grown.set_shape([2])
        return i + 1, grown

    @tf.function
    def whole(x):
        taken = tf.cond(x[0] > 0, lambda: tf.multiply(x, 2.0, name='twice'), lambda: x)
        return tf.while_loop(lambda i, values: tf.less(i, 2, name='goes_on'), body, [tf.constant(0), taken])[1]

    for name, ops in (('ops', True), ('plain', False)):
        with pyfuncdbg.record(tmp_path / f'{name}.pfd', ops=ops):
            assert whole(tf.constant([1.0, 2.0])).numpy().tolist() == [8, 16]
    with pyfuncdbg.load(tmp_path / 'ops.pfd') as trace:
        context = Context(trace)
        for node, outside in (('twice', 'cond:0'), ('grown', 'while:3')):
            (returned,) = execute(f'lo {node}', context).result.lineage.returned
            assert returned.outside == (outside,) and f'returns it: outside it is {outside}' in text(f'lo {node}', context)
            assert f'{returned.function} returns it: outside it is {outside}' in text(f'ni {node}', context, 140)
            assert 'eager call' not in text(f'lo {node}', context, 140)
        assert execute('lo goes_on', context).result.lineage.returned[0].outside == (), 'a loop only asks it'
    with pyfuncdbg.load(tmp_path / 'plain.pfd') as trace:
        shown = text('lo grown', Context(trace), 160)
        assert 'what takes its outputs is not known: nodes are recorded with --ops' in shown and 'it is while:3' in shown


def test_nodes_of_one_name_in_several_graphs_are_told_apart(tmp_path):
    """Of functions in a loop, its branch and eager code, all nodes named PyFunc, the last hid the others."""
    def halve(x):
        return x / 2

    def check(x):
        return x

    @tf.function
    def shrink(x):
        while tf.reduce_sum(x) > 1.:
            x = tf.ensure_shape(tf.numpy_function(halve, [x], tf.float32), [2])
            if tf.reduce_sum(x) < 2.:
                x = tf.ensure_shape(tf.numpy_function(check, [x], tf.float32), [2])
        return x
    with pyfuncdbg.record(tmp_path / 'names.pfd'):
        shrink(tf.constant([4.0, 4.0]))
        tf.numpy_function(quick, [np.ones(2, np.float32)], tf.float32)
    with pyfuncdbg.load(tmp_path / 'names.pfd') as trace:
        context = Context(trace)
        calls = {call.site.function.rpartition('.')[2]: call for call in trace.calls()}
        assert {call.site.name for call in calls.values()} == {'PyFunc'}
        for name, count in (('halve', 3), ('check', 1), ('quick', 1)):
            for line in (f'ni {name}', f'ni #{calls[name].number}'):
                card = execute(line, context).result
                assert card.site.function.endswith(name) and card.calls == count
                others = {one.rpartition('.')[2] for one in card.namesakes}
                assert others == {'halve', 'check', 'quick'} - {name}
        assert '2 further sites of that name: ' in text('ni halve', context, 200)
        assert text('li check', context).splitlines()[1].endswith('check  float32[2] = 0.5 0.5 const')


def test_text_of_the_stopped_run_is_shown():
    with tf.Graph().as_default() as graph:
        one = tf.placeholder(tf.string, [], name='one')
        two = tf.placeholder(tf.string, [2], name='two')
        joined = tf.strings.join([one, two], name='joined')
        last = tf.numpy_function(lambda text: text[-1], [joined], tf.string, name='last')
    lines = ('to last', 'pt one:0', 'ni joined', 'pt joined', 'li last', 'pf', 'cont')
    with tf.Session(graph=graph) as session, typing(*lines) as typist:
        assert session.run(last, {one: b'a', two: [b'b', b'c']}) == b'ac'
    shown = dict(zip((line for line in lines if line not in ('to last', 'cont')), (text for text in typist.texts if text),
                     strict=True))
    assert "()  b'a'" in shown['pt one:0'] and "b'ab'" in shown['pt joined']
    assert "string[2] = b'ab' b'ac'" in shown['li last'] and "one:0  feed  string[] = b'a'" in shown['ni joined']
    assert "two:0  feed  string[2] = b'b' b'c'" in shown['ni joined']
    assert 'one' in shown['pf'] and 'two' in shown['pf']
