"""Ops of the real TensorFlow as calls: those of traced functions with their branches and loops, and eager ones."""
from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyfuncdbg
from pyfuncdbg.hooks import op_cost
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.observers.debug.cards.node_card import node_card
from pyfuncdbg.observers.debug.inspecting.node_search import find_node
from pyfuncdbg.observers.debug.numerics.nan_verdicts import NanVerdict, judge
from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute

CALLED = 'StatefulPartitionedCall:0|PartitionedCall:0'
pytestmark = pytest.mark.tensorflow


def recorded(folder: Path, work: Callable[[], Any], **options: Any) -> Path:
    """The trace of some work with its ops."""
    path = folder / 'ops.pfd'
    with pyfuncdbg.attach('tensorflow'), pyfuncdbg.record(path, ops=True, **options):
        work()
    return path


def ops(path: Path) -> list[CallRecord]:
    with Trace.open(path) as trace:
        return trace.calls(kind='op')


def named(calls: list[CallRecord], name: str) -> list[CallRecord]:
    return [call for call in calls if call.site.name == name or call.site.name.endswith('/' + name)]


def test_a_nan_in_a_function_is_found_with_its_line(tf: Any, tmp_path: Path) -> None:
    @tf.function
    def loss(x: Any) -> Any:
        root = tf.sqrt(x, name='root')      # the line
        kept = tf.where(root > 1.0, root, 0.0, name='kept')
        return tf.reduce_mean(kept)

    given = tf.constant([1.0, 9.0, -4.0])
    plain = loss(given).numpy()             # traced before anybody looks
    answers: list[Any] = []
    path = recorded(tmp_path, lambda: answers.append(loss(given).numpy()))
    assert answers == [plain] == [1.0]
    with Trace.open(path) as trace:
        findings: dict[str, NanVerdict] = {found.call.site.name: found for found in judge(trace).findings}
        runs = [run.label for run in trace.runs()]
        (root,) = named(trace.calls(kind='op'), 'root')
    born = findings['root']
    assert born.verdict == 'born' and born.tensor.stats is not None and born.tensor.stats.first_bad == (2,)
    assert Path(__file__).read_text().splitlines()[born.call.site.stack[-1].line - 1].endswith('# the line')
    assert born.call.site.stack[-1].function == 'loss'
    assert findings['kept'].verdict == 'masked' and findings['kept'].origin == born.call.number
    assert 'loss' in runs and root.site.op_type == 'Sqrt'
    assert root.inputs[0].to_numpy().tolist() == [1, 9, -4] and root.inputs[0].name == 'x:0'
    np.testing.assert_array_equal(root.outputs[0].to_numpy(), np.float32([1, 3, np.nan]))


def test_branches_and_loops(tf: Any, tmp_path: Path) -> None:
    @tf.function
    def inner(x: Any) -> Any:
        return tf.square(x, name='inner_square')

    @tf.function
    def f(x: Any) -> Any:
        if tf.reduce_sum(x) > 0.0:
            x = tf.negative(x, name='turned')
        for i in tf.range(3):
            x = tf.add(x, tf.cast(i, tf.float32), name='grown')
        return inner(x)

    calls = ops(recorded(tmp_path, lambda: f(tf.constant([1.0, 2.0]))))
    assert [call.outputs[0].to_numpy().tolist() for call in named(calls, 'turned')] == [[-1, -2]]
    grown = named(calls, 'grown')
    assert [call.ordinal for call in grown] == [0, 1, 2]
    assert [call.outputs[0].to_numpy().tolist() for call in grown] == [[-1, -2], [0, -1], [2, 1]]
    (square,) = named(calls, 'inner_square')
    assert square.outputs[0].to_numpy().tolist() == [4, 1] and square.started > grown[-1].started
    assert named(calls, 'turned')[0].started < grown[0].started


def test_an_origin_in_a_loop_comes_before_what_inherits_it(tf: Any, tmp_path: Path) -> None:
    @tf.function
    def f(x: Any) -> Any:
        for i in tf.range(3):
            x = tf.math.log(x - tf.cast(i, tf.float32), name='log')
        return tf.reduce_sum(x, name='sum')

    path = recorded(tmp_path, lambda: f(tf.constant([10.0, 1.5])))
    with Trace.open(path) as trace:
        findings = judge(trace).findings
    born = [found for found in findings if found.verdict == 'born']
    assert [found.call.site.name.split('/')[-1] for found in born] == ['log'] and born[0].call.ordinal == 1
    heirs = {found.call.site.name.split('/')[-1] for found in findings if found.verdict == 'inherited'}
    assert 'sum' in heirs and {found.origin for found in findings if found.verdict == 'inherited'} == {born[0].call.number}


@pytest.mark.parametrize('options', [{}, {'full_limit': 0}], ids=['values', 'counts'])
def test_results_are_the_same_bit_for_bit(tf: Any, tmp_path: Path, options: dict[str, Any]) -> None:
    def work() -> list[bytes]:
        tf.random.set_seed(7)
        weights = tf.Variable(tf.random.normal([8, 4], seed=1))
        state = tf.Variable(0.0)

        @tf.function
        def step(x: Any) -> Any:
            state.assign_add(tf.reduce_sum(x))
            with tf.GradientTape() as tape:
                hidden = tf.nn.relu(tf.matmul(x, weights) + tf.random.uniform([4]))
                if tf.reduce_mean(hidden) > 0.1:
                    hidden = tf.nn.dropout(hidden, 0.5)
                loss = tf.reduce_mean(tf.nn.log_softmax(hidden) ** 2)
            weights.assign_sub(0.1 * tape.gradient(loss, weights))
            return loss

        data = tf.data.Dataset.range(6).map(lambda i: tf.cast(i, tf.float32) * tf.random.uniform([2, 8]))
        losses = [step(batch).numpy() for batch in data]
        return [*(np.asarray(loss).tobytes() for loss in losses), weights.numpy().tobytes(), state.numpy().tobytes()]

    plain = work()
    found: list[list[bytes]] = []
    calls = ops(recorded(tmp_path, lambda: found.append(work()), **options))
    assert found == [plain]
    assert len([call for call in calls if call.site.op_type == 'MatMul']) >= 12     # six forward, six backward
    assert work() == plain


def test_counts_without_values(tf: Any, tmp_path: Path) -> None:
    @tf.function
    def f(x: Any) -> Any:
        return tf.reduce_sum(tf.divide(x, tf.constant([0.0, 1.0, 0.0, -2.0]), name='quotient'))

    calls = ops(recorded(tmp_path, lambda: f(tf.constant([0.0, 3.0, 1.0, 5.0])), full_limit=0))
    (quotient,) = named(calls, 'quotient')
    stats = quotient.outputs[0].stats
    assert stats is not None
    assert (stats.size, stats.nan, stats.pos_inf, stats.neg_inf, stats.pos, stats.neg, stats.zero) == (4, 1, 1, 0, 1, 1, 0)
    assert (quotient.outputs[0].dtype, quotient.outputs[0].shape, quotient.outputs[0].key) == ('float32', (4,), None)


def test_shapes_that_only_a_run_knows_are_counted(tf: Any, tmp_path: Path) -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.float32), tf.TensorSpec([None], tf.int32)])
    def f(x: Any, n: Any) -> Any:
        return tf.multiply(x, 2.0, name='twice'), tf.add(n, 1, name='next')

    calls = ops(recorded(tmp_path, lambda: f(tf.zeros([3, 2]), tf.constant([1, 2, 3, 4])), full_limit=0))
    (twice,), (following,) = named(calls, 'twice'), named(calls, 'next')
    assert twice.outputs[0].shape == (3, 2) and twice.outputs[0].stats is not None and twice.outputs[0].stats.zero == 6
    assert following.outputs[0].shape == (4,) and following.outputs[0].dtype == 'int32'


def test_what_xla_compiles_is_left_alone_and_said(tf: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    @tf.function
    def shared(x: Any) -> Any:
        return tf.tanh(x, name='inside')

    @tf.function(jit_compile=True)
    def compiled(x: Any) -> Any:
        return shared(x) * 2.0

    def work() -> None:
        assert float(shared(tf.constant(0.0))) == 0.0
        for _ in range(2):
            assert float(compiled(tf.constant(0.0))) == 0.0

    calls = ops(recorded(tmp_path, work))
    assert len(named(calls, 'inside')) == 1
    assert capfd.readouterr().err.count('the ops of compiled are not seen: XLA compiles it') == 1


def test_a_function_that_cannot_be_traced_again_is_said(tf: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    concrete = tf.function(lambda x: tf.exp(x, name='early')).get_concrete_function(tf.constant(0.0))
    calls = ops(recorded(tmp_path, lambda: concrete(tf.constant(0.0))))
    assert not named(calls, 'early')
    assert 'are not seen: it was traced before ops were watched' in capfd.readouterr().err


def test_eager_ops_are_calls_at_their_line(tf: Any, tmp_path: Path) -> None:
    def work() -> None:
        for _ in range(2):
            tf.constant([1.0, 0.0]) / 0.0       # here

    calls = [call for call in ops(recorded(tmp_path, work)) if call.site.op_type == 'RealDiv']
    assert [call.ordinal for call in calls] == [0, 1] and len({call.site.id for call in calls}) == 1
    line = calls[0].site.stack[-1]
    assert Path(__file__).read_text().splitlines()[line.line - 1].endswith('# here') and line.function == 'work'
    np.testing.assert_array_equal(calls[0].outputs[0].to_numpy(), np.float32([np.inf, np.nan]))


def test_ops_in_a_wrapped_function_are_seen_on_its_thread(tf: Any, tmp_path: Path) -> None:
    def body(x: Any) -> Any:
        return tf.math.log(x)

    function = tf.function(lambda x: tf.py_function(body, [x], tf.float32))
    path = recorded(tmp_path, lambda: function(tf.constant(0.0)))
    with Trace.open(path) as trace:
        (python,) = trace.calls(kind='python')
        (log,) = [call for call in trace.calls(kind='op') if call.site.op_type == 'Log']
    assert (log.parent, log.thread) == (python.number, python.thread) and log.outputs[0].to_numpy() == -np.inf


def test_strings_of_no_dimensions(tf: Any, tmp_path: Path) -> None:
    @tf.function
    def length(text: Any) -> Any:
        return tf.strings.length(tf.strings.upper(text, name='upper'), name='length')

    answers: list[Any] = []
    path = recorded(tmp_path, lambda: answers.append(length(tf.constant('abc')).numpy()))
    assert answers == [3]
    (upper,) = named(ops(path), 'upper')
    assert upper.inputs[0].to_numpy()[()] == b'abc' and upper.outputs[0].to_numpy()[()] == b'ABC'


@pytest.mark.parametrize('traced', [True, False])
def test_a_mistake_of_ours_is_said_and_the_program_goes_on(
        traced: bool, tf: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise ZeroDivisionError('ours')
    monkeypatch.setattr(op_cost, 'add', broken)
    answers: list[Any] = []

    def step(x: Any) -> Any:
        return tf.sqrt(x) + 1
    function = tf.function(step) if traced else step
    recorded(tmp_path, lambda: answers.extend(function(tf.constant(4.0)).numpy() for _ in range(3)))
    assert answers == [3.0] * 3
    assert 'pyfuncdbg: watching ops failed and is switched off: ZeroDivisionError: ours. The program continues '\
        'unchanged.' in (
        capfd.readouterr().err)


def test_detach_leaves_no_observer(tf: Any, tmp_path: Path) -> None:
    from tensorflow.python.eager import context, execute

    @tf.function
    def f(x: Any) -> Any:
        return tf.square(x) + 1.0

    counted: list[int] = []

    def ours() -> list[str]:
        graph = f.get_concrete_function(tf.constant(2.0)).graph
        return [op.name for op in graph.get_operations() if 'pyfuncdbg' in op.name]

    def work() -> None:
        f(tf.constant(2.0))
        counted.append(len(ours()))

    recorded(tmp_path, work)
    assert counted[0] > 0 and not ours()
    assert context.context().op_callbacks == [] and execute.execute is execute.quick_execute
    assert float(f(tf.constant(2.0))) == 5.0 and not hooks.op
    assert len(f._list_all_concrete_functions()) == 1


def test_the_cost_is_told(tf: Any, tmp_path: Path) -> None:
    f = tf.function(lambda x: tf.square(x) + 1.0)
    path = recorded(tmp_path, lambda: f(tf.zeros([64, 64])))
    with Trace.open(path) as trace:
        cost = trace.info().op_cost
    assert cost is not None and cost.calls >= 2 and cost.seconds > 0
    assert cost.nbytes >= 3 * 64 * 64 * 4       # square: in and out, add: both and out
    nothing = tmp_path / 'none.pfd'
    with pyfuncdbg.attach('tensorflow'), pyfuncdbg.record(nothing):
        f(tf.zeros([2]))
    with Trace.open(nothing) as trace:
        assert trace.info().op_cost is None


def test_what_makes_nodes_gets_the_lists_that_tensorflow_gives(tf: Any, tmp_path: Path) -> None:
    made: list[Any] = []

    class Model(tf.Module):                 # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.weight = tf.Variable([1.0, 2.0])

        @tf.function(input_signature=[tf.TensorSpec([2], tf.float32)])
        def scaled(self, x: Any) -> Any:
            return x * self.weight

    def work() -> None:
        with tf.Graph().as_default():
            made.append(tf.raw_ops.Unpack(value=tf.zeros([2, 3]), num=2, axis=0))
        tf.saved_model.save(Model(), str(tmp_path / 'model'))      # takes its tensors off such a list
        loaded = tf.saved_model.load(str(tmp_path / 'model'))
        made.append(loaded.scaled(tf.constant([3.0, 4.0])).numpy().tolist())

    recorded(tmp_path, work)
    assert type(made[0]) is list and made[1] == [3, 8]


def test_gradients_of_a_trace_are_no_tensors_of_the_list(tf: Any, tmp_path: Path) -> None:
    @tf.function
    def slope(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.sqrt(tf.matmul(x, x)))
        return tape.gradient(y, x)
    given = tf.ones((2, 2))
    path = recorded(tmp_path, lambda: slope(given))
    with Trace.open(path) as trace:
        known = {tensor.name for call in trace.calls(kind='op') for tensor in call.outputs}
        symbolic = [tensor for _, tensor in trace.tensors() if tensor.dtype == 'object' and not tensor.absent]
        found = execute('lt', Context(trace)).result
        text = execute('lt', Context(trace)).text(200)
    assert symbolic and found.symbolic == len(symbolic) and f'{len(symbolic)} symbolic of traced gradients' in text
    assert {tensor.name for _, tensor in found.rows} == known | {'x:0'} and 'no array' not in text


def saved(tf: Any, folder: Path, watched: bool) -> Any:
    """What is in the file of a model that was called before it was saved."""
    from tensorflow.core.protobuf import saved_model_pb2
    model = tf.Module()
    weight = model.weight = tf.Variable([1.0, 2.0])
    model.branching = tf.function(lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: tf.sqrt(x) * weight, lambda: -x))
    model.plain = tf.function(lambda x: tf.exp(x) + 1.0, input_signature=[tf.TensorSpec([None], tf.float32)])
    model.adding = tf.function(lambda x: (weight.assign_add(x), tf.tanh(x))[1],
                                 input_signature=[tf.TensorSpec([2], tf.float32)])

    def work() -> None:
        model.branching(tf.constant([3.0, 4.0]))
        tf.saved_model.save(model, str(folder / 'model'))
    if watched:
        recorded(folder, work, full_limit=0)
    else:
        work()
    found = saved_model_pb2.SavedModel()
    found.ParseFromString((folder / 'model' / 'saved_model.pb').read_bytes())
    return found.meta_graphs[0]


def test_a_saved_model_is_as_without_us(tf: Any, tmp_path: Path) -> None:
    (tmp_path / 'plain').mkdir()
    plain, watched = saved(tf, tmp_path / 'plain', False), saved(tf, tmp_path, True)

    def ops_of(meta: Any) -> list[str]:
        """Branches that are observed are stateful."""
        return sorted(op.name.removeprefix('Stateless') for op in meta.meta_info_def.stripped_op_list.op)

    def exponential(meta: Any) -> list[Any]:
        return [(function.signature.is_stateful, list(function.signature.control_output), dict(function.control_ret),
                 [(node.name, node.op, list(node.input)) for node in function.node_def])
                for function in meta.graph_def.library.function if any(node.op == 'Exp' for node in function.node_def)]
    assert ops_of(watched) == ops_of(plain)
    assert exponential(watched) == exponential(plain) != []
    adding = [function for meta in (plain, watched) for function in meta.graph_def.library.function
              if any(node.op == 'AssignAddVariableOp' for node in function.node_def)]
    assert [function.signature.is_stateful for function in adding] == [True, True]
    assert b'pyfuncdbg' not in watched.SerializeToString()
    loaded = tf.saved_model.load(str(tmp_path / 'model'))
    gc.collect()
    assert loaded.branching(tf.constant([9.0, 16.0])).numpy().tolist() == [3.0, 8.0]


def test_what_a_wrapped_function_takes_is_of_the_execution_that_calls_it(tf: Any, tmp_path: Path) -> None:
    kept = tf.Variable([0.0, 0.0])

    @tf.function
    def inner(x: Any) -> Any:
        return tf.numpy_function(lambda a: a - 1, [x], tf.float32, name='inner_py')

    @tf.function
    def f(x: Any) -> Any:
        doubled = tf.multiply(x, 2.0, name='doubled')
        kept.assign(tf.add(x, 7.0, name='stored'))
        made = tf.numpy_function(lambda a: a + 1, [tf.identity(doubled)], tf.float32, name='parse')
        if tf.reduce_sum(x) > 0.0:
            made = tf.py_function(lambda a: a * 3, [doubled], tf.float32, name='triple')
        return inner(made)

    inner(tf.constant([5.0, 5.0]))          # traced by itself, before it is called by another
    path = recorded(tmp_path, lambda: [f(tf.constant([1.0, n])) for n in (2.0, 3.0)])
    with Trace.open(path) as trace:
        calls = trace.calls(kind='python')
        runs = {run.id: run for run in trace.runs() if run.label == 'f'}
        card = node_card(trace, find_node(trace, 'doubled'))
        taken = node_card(trace, find_node(trace, 'parse'))
        stored = node_card(trace, find_node(trace, 'stored'))
        inside = node_card(trace, find_node(trace, 'triple'))
    assert [call.run for call in calls] == sorted(run for run in runs for _ in range(3))
    assert {use.node for use in card.outputs[0].users} == {'parse', 'cond'}
    assert [use.node for use in stored.outputs[0].users] == ['AssignVariableOp']
    (given,) = taken.inputs
    assert (given.use.node, given.kind, given.op_type) == ('doubled', 'node', 'Mul')
    assert given.value is not None and given.value.to_numpy().tolist() == [2, 6]
    assert [given.use.tensor for given in inside.inputs] == ['doubled:0']


def test_of_two_executions_at_once_a_call_is_in_neither(tf: Any, tmp_path: Path) -> None:
    together = threading.Barrier(1)

    def wait(a: Any) -> Any:
        together.wait()
        return a

    @tf.function
    def f(x: Any) -> Any:
        return tf.numpy_function(wait, [tf.multiply(x, 2.0, name='doubled')], tf.float32, name='waiting') + 1.0

    def work() -> None:
        threads = [threading.Thread(target=f, args=(tf.constant(float(n)),)) for n in (1, 2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    f(tf.constant(0.0))                     # traced once
    together = threading.Barrier(2, timeout=60)
    path = recorded(tmp_path, work)
    with Trace.open(path) as trace:
        runs = {run.id: run.label for run in trace.runs()}
        calls = trace.calls(kind='python')
    assert sorted(call.inputs[0].to_numpy().item() for call in calls) == [2, 4]
    assert [runs[call.run] for call in calls] == ['functions and datasets'] * 2


def test_a_dataset_that_goes_on_beside_a_function_is_no_part_of_it(tf: Any, tmp_path: Path) -> None:
    elements: Any = None

    @tf.function
    def f(x: Any) -> Any:
        return tf.numpy_function(lambda a: np.int64(next(elements)) + a, [x], tf.int64, name='next_one')

    with pyfuncdbg.attach('tensorflow'), pyfuncdbg.record(tmp_path / 'ops.pfd', ops=True):
        elements = iter(tf.data.Dataset.range(3).map(lambda i: tf.multiply(i, 10, name='tenfold')))
        assert [int(f(tf.constant(1, tf.int64))) for _ in range(2)] == [1, 11]
    with Trace.open(tmp_path / 'ops.pfd') as trace:
        runs = {run.id: run.label for run in trace.runs()}
        calls = [(runs[call.run], call.site.name) for call in trace.calls() if call.site.kind in ('op', 'python')]
    assert calls.count(('f', 'next_one')) == 2
    assert {label for label, name in calls if name == 'tenfold'} == {'functions and datasets'}


def test_a_name_means_the_node_before_what_a_backward_pass_takes_of_it(tf: Any, tmp_path: Path) -> None:
    @tf.function
    def f(x: Any) -> Any:
        return tf.reduce_sum(tf.py_function(lambda a: a * a, [tf.sin(x, name='bent')], tf.float32, name='squared'))

    def work() -> None:
        x = tf.constant([1.0, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            made = f(x)
        tape.gradient(made, x)
    with Trace.open(recorded(tmp_path, work)) as trace:
        found = find_node(trace, 'squared')
        backward = next(run.id for run in trace.runs() if '(backward)' in run.label)
        (given,) = node_card(trace, found).inputs
        text = execute(f'li squared --run {backward}', Context(trace)).text(120)
    assert found.graph.plan is not None and found.graph.plan.label == 'f' and given.use.node == 'bent'
    assert 'what goes in is not known' in text


def test_what_a_branch_a_loop_and_a_function_return_is_taken_where_they_are_called(tf: Any, tmp_path: Path) -> None:
    @tf.function
    def inner(x: Any) -> Any:
        return tf.square(x, name='squared')

    def body(i: Any, value: Any) -> Any:
        grown = tf.numpy_function(lambda x: x + 1, [value], tf.float32, name='grown')
        grown.set_shape([])
        return i + 1, grown

    @tf.function
    def whole(x: Any) -> Any:
        taken = tf.cond(x > 0.0, lambda: tf.multiply(x, 2.0, name='twice'), lambda: x)
        return inner(tf.while_loop(lambda i, value: tf.less(i, 2, name='goes_on'), body, [tf.constant(0), taken])[1])

    path = recorded(tmp_path, lambda: whole(tf.constant(1.0)))
    with Trace.open(path) as trace:
        context = Context(trace)
        for node, outside in (('twice', 'cond:0'), ('grown', 'while:3'), ('squared', CALLED)):
            (returned,) = execute(f'lo {node}', context).result.lineage.returned  # type: ignore[attr-defined]
            assert returned.outside[0] in outside.split('|') and len(returned.outside) == 1
            assert f'returns it: outside it is {returned.outside[0]}' in execute(f'ni {node}', context).text(140)
            assert 'eager call' not in execute(f'lo {node}', context).text(140)
        (asked,) = execute('lo goes_on', context).result.lineage.returned  # type: ignore[attr-defined]
        assert asked.outside == ()
