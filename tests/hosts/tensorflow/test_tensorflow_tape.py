"""The tape of the real TensorFlow: its steps, where they lead, how large gradients are, and why there is none."""
from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyfuncdbg
from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hooks.own_files import is_own_file
from pyfuncdbg.observers.debug.gradients.gradient_check import check_step
from pyfuncdbg.observers.debug.gradients.tape import Tape, tape_of
from pyfuncdbg.observers.debug.gradients.traced_tape import TRACED
from pyfuncdbg.observers.debug.reports.diagram import tape_diagram
from pyfuncdbg.observers.debug.reports.summary import summarize
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.engine.answer import Answer
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute
from pyfuncdbg.ui.commands.graph import TAPE

pytestmark = [pytest.mark.tensorflow, pytest.mark.timeout(120)]


@contextmanager
def recorded(folder: Path) -> Iterator[Callable[[], Trace]]:
    """Attached and recorded; gives what reads the trace."""
    with pyfuncdbg.attach('tensorflow'), pyfuncdbg.record(folder / 'tape.pfd') as recorder:
        def trace() -> Trace:
            recorder.flush()
            return Trace.open(folder / 'tape.pfd')
        yield trace


def taped(folder: Path, program: Callable[[], Any], run: int | None = None) -> tuple[Any, Tape]:
    """What a program gives, and the tape that it leaves."""
    with recorded(folder) as trace:
        found = program()
        with trace() as reading:
            return found, tape_of(reading, run)


def edges(tape: Tape) -> set[tuple[str, str]]:
    """(from, to) by names; a source as '->name'."""
    names = {node.number: node.name for node in tape.nodes}
    return {(names[edge.source], names[edge.target] if edge.target else f'->{edge.gradient.name}') for edge in tape.edges}


def largest(array: Any) -> float:
    return float(np.abs(np.asarray(array)).max())


def test_every_step_has_the_gradient_that_tensorflow_gives_for_it(tf: Any, tmp_path: Path) -> None:
    def scale(v: Any) -> Any:
        return v * tf.constant([1.0, 2.0, 4.0])

    w, b = tf.Variable(np.arange(6, dtype='f').reshape(2, 3) / 7, name='w'), tf.Variable(np.ones(3, 'f'), name='b')
    x = tf.constant([[1.0, 2.0], [3.0, 5.0]])

    def program() -> Any:
        with tf.GradientTape(persistent=True) as tape:
            product = x @ w
            hidden = tf.tanh(product + b)
            scaled = tf.py_function(scale, [hidden], tf.float32, name='scale')
            loss = tf.reduce_sum(scaled * scaled)
        return tape, loss, (scaled, hidden)

    def whole() -> Any:
        tape, loss, _ = program()
        return tape.gradient(loss, [w, b])

    plain = whole()
    _, _, (scaled, hidden) = program()
    inner = {'Sum': 1.0, 'Mul': 1.0}
    for name, tensor in (('scale', scaled), ('Tanh', hidden)):
        with tf.GradientTape() as one:
            one.watch(tensor)
            rest = tf.py_function(scale, [tensor], tf.float32) if name == 'Tanh' else tensor
            value = tf.reduce_sum(rest * rest)
        inner[name] = largest(one.gradient(value, tensor))
    watched, tape = taped(tmp_path, whole)
    assert [one.numpy().tobytes() for one in watched] == [one.numpy().tobytes() for one in plain]
    assert [(source.name, source.kind, source.gradient.magnitude) for source in tape.sources if source.gradient] == [
        ('w', 'Variable', largest(plain[0])), ('b', 'Variable', largest(plain[1]))]
    assert edges(tape) == {('Sum', 'Mul'), ('Mul', 'scale'), ('scale', 'Tanh'), ('Tanh', 'AddV2'), ('AddV2', 'MatMul'),
                           ('AddV2', 'ReadVariableOp'), ('MatMul', 'ReadVariableOp'), ('ReadVariableOp', '->w'),
                           ('ReadVariableOp', '->b')}
    flows = {node.name: node.incoming[0].magnitude for node in tape.nodes}
    assert {name: flows[name] for name in inner} == pytest.approx(inner, rel=1e-6)
    (python,) = [node for node in tape.nodes if node.function]
    assert (python.function.rpartition('.')[2], python.inner_steps) == ('scale', 1) and python.forward
    assert {node.place.partition(':')[0] for node in tape.nodes} == {Path(__file__).name}


def test_gradients_that_rules_hand_on_as_they_are_keep_their_way(tf: Any, tmp_path: Path) -> None:
    """The rules of additions give the very object that they got; a sum of sums has it in ten places."""
    names = [f'v{i}' for i in range(6)]
    variables = [tf.Variable(float(i + 1), name=name) for i, name in enumerate(names)]

    def program() -> Any:
        with tf.GradientTape() as tape:
            squares = [tf.square(v) for v in variables[:4]]
            left = (squares[0] + squares[1]) + (squares[2] + tf.negative(variables[4]))
            whole = tf.identity(left) + (squares[3] + tf.negative(variables[5]))
        return tape.gradient(whole, variables)

    found, tape = taped(tmp_path, program)
    assert [float(gradient) for gradient in found] == [2, 4, 6, 8, -1, -1]
    assert [(source.name, source.gradient and source.gradient.magnitude) for source in tape.sources] == [
        *zip(names, (2, 4, 6, 8, 1, 1), strict=True)]
    below: dict[str, list[str]] = {}
    kinds = {node.number: node.name for node in tape.nodes}
    for edge in tape.edges:
        below.setdefault(edge.source, []).append(edge.target)

    def leads_to(number: str) -> list[str]:
        return sorted(kinds[target] for target in below[number] if target)

    top = tape.roots[0]
    assert len(tape.roots) == 1 and leads_to(top) == ['AddV2', 'Identity']
    (identity,), (second,) = ([target for target in below[top] if kinds[target] == kind] for kind in ('Identity', 'AddV2'))
    assert leads_to(second) == ['Neg', 'Square'] and leads_to(identity) == ['AddV2']
    left, right = below[below[identity][0]]
    assert [leads_to(left), leads_to(right)] == [['Square', 'Square'], ['Neg', 'Square']]


def test_a_chain_that_vanishes_and_one_that_explodes(tf: Any, tmp_path: Path) -> None:
    x, y = tf.Variable(3.0, name='small'), tf.Variable(0.001, name='large')

    def program() -> Any:
        with tf.GradientTape() as tape:
            value = x
            for _ in range(8):
                value = tf.sigmoid(value) * 0.1
            far = y
            for _ in range(4):
                far = far * 30.0
            total = value + far
        return tape.gradient(total, [x, y])

    found, tape = taped(tmp_path, program)
    assert {source.name: source.gradient.remarks for source in tape.sources if source.gradient} == {
        'small': ('vanishing',), 'large': ('exploding',)}
    assert [source.gradient.magnitude for source in tape.sources if source.gradient] == [abs(float(one)) for one in found]


def test_nan_that_begins_in_the_backward_step_of_a_function(tf: Any, tmp_path: Path) -> None:
    def root(v: Any) -> Any:
        return tf.where(v > 0, tf.math.log(v), tf.zeros_like(v))    # 0 times infinity, at 0

    x = tf.Variable([4.0, 0.0], name='x')

    def program() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.py_function(root, [x], tf.float32, name='root') * 2.0)
        return tape.gradient(loss, x)

    found, tape = taped(tmp_path, program)
    assert np.isnan(found.numpy()).tolist() == [False, True]
    bad = {edge.source for edge in tape.edges if 'NaN' in edge.gradient.remarks}
    (born,) = [node for node in tape.nodes if node.number in bad and not any(one.remarks for one in node.incoming)]
    assert born.name == 'root' and tape.sources[0].gradient and tape.sources[0].gradient.remarks == ('NaN',)


def test_why_a_gradient_is_none(tf: Any, tmp_path: Path) -> None:
    names = ('captured', 'stopped', 'array', 'left', 'rounded', 'read', 'frozen', 'unused', 'fine')
    values = {name: tf.Variable(2.0, name=name, trainable=name != 'frozen') for name in names}
    number, loose = tf.constant(3), tf.constant(3.0)

    def scale(v: Any) -> Any:
        return v * values['captured']

    captured = values['captured']

    def closed(v: Any) -> Any:
        return v * captured

    def program() -> Any:
        with tf.GradientTape() as tape:
            value = tf.py_function(closed, [values['fine']], tf.float32) + tf.stop_gradient(values['stopped'] * 2.0)
            value += tf.numpy_function(np.negative, [values['array']], tf.float32)
            value += float((values['left'] * 3.0).numpy())
            value += tf.cast(tf.argmax(tf.concat([tf.reshape(values['rounded'], [1]), [1.0]], 0)), tf.float32)
            value += float(values['read'])
            value += values['frozen'] * loose + tf.cast(number, tf.float32)
        return tape.gradient(value, [*values.values(), number, loose])

    found, tape = taped(tmp_path, program)
    assert [gradient is None for gradient in found] == [True] * 8 + [False] + [True] * 2
    reasons = {source.name: (source.dead, source.fix) for source in tape.dead}
    assert list(reasons) == [*names[:-1], 'number', 'loose']
    file = Path(__file__).name
    for name, reason, fix in (
            ('captured', "py_function 'closed'", 'tf.py_function(closed, [..., captured], Tout)'),
            ('stopped', f'tf.stop_gradient ({file}:', 'remove the stop_gradient'),
            ('array', "numpy_function 'negative'", 'tf.custom_gradient'),
            ('left', f'ends at Mul ({file}:', '.numpy()'), ('rounded', 'ArgMax', 'floating point'),
            ('read', 'ends at ReadVariableOp', 'float()'),
            ('frozen', 'trainable=False', 'tape.watch(frozen)'), ('unused', 'no recorded operation uses it', ''),
            ('number', 'it is int32', 'tf.cast(number, tf.float32)'),
            ('loose', 'the tape does not watch it', 'tape.watch(loose)')):
        assert reason in reasons[name][0] and fix in reasons[name][1], (name, reasons[name])
    assert scale is not closed


def test_an_int_target_and_one_from_before_the_tape(tf: Any, tmp_path: Path) -> None:
    x = tf.Variable(2.0, name='x')
    before = x * x

    def program() -> Any:
        with tf.GradientTape(persistent=True) as tape:
            whole = tf.cast(x, tf.int32)
            _ = x * 2.0
        return tape.gradient(whole, x), tape.gradient(before, x, unconnected_gradients='zero')

    with recorded(tmp_path) as trace:
        none, zero = program()
        assert none is None and float(zero) == 0
        with trace() as reading:
            runs = [run.id for run in reading.runs() if run.label == 'GradientTape.gradient']
            first, second = (tape_of(reading, run).dead[0].dead for run in runs)
    assert 'the target is int32' in first
    assert second == 'the target was not computed while the tape recorded'


def test_a_tape_that_forgets_and_one_that_is_entered_again(tf: Any, tmp_path: Path) -> None:
    x = tf.Variable(2.0, name='x')

    def program() -> None:
        with tf.GradientTape(persistent=True) as tape:
            before = x * x
            tape.reset()
            after = tf.sin(x)
            with tape.stop_recording():
                aside = tf.cos(x)
        with tf.GradientTape(persistent=True) as outer:
            inside = tf.exp(x)
            with tape:
                again = tf.tanh(after)
        assert tape.gradient(before, x) is None and tape.gradient(aside, x) is None
        assert tape.gradient(again, x) is not None and outer.gradient(inside, x) is not None
        with pytest.raises(ValueError, match='not recording') as caught:
            tape.reset()
        assert not any(is_own_file(str(entry.path)) for entry in caught.traceback)

    with recorded(tmp_path) as trace:
        program()
        with trace() as reading:
            before, aside, again, inside = [tape_of(reading, run.id) for run in reading.runs()
                                            if run.label == 'GradientTape.gradient']
    assert 'were not recorded (stop_recording or reset)' in before.dead[0].dead
    assert 'the target was not computed' in aside.dead[0].dead
    assert {node.name for node in again.nodes} == {'Tanh', 'Sin', 'ReadVariableOp'}
    lines = {node.name: node.place for node in again.nodes}
    assert lines['Tanh'] != lines['Sin']
    assert all(lines[name].startswith(f'{Path(__file__).name}:') for name in ('Tanh', 'Sin'))
    assert {node.name for node in inside.nodes} == {'Exp', 'ReadVariableOp'}


def variety(tf: Any) -> list[bytes]:
    """Gradients of every kind, as bytes."""
    x, table = tf.Variable([0.3, 0.7], name='x'), tf.Variable(np.ones((4, 2), 'f'), name='table')

    @tf.custom_gradient
    def cubed(v: Any) -> Any:
        return v ** 3, lambda dy: dy * v * v * 3.0

    @tf.function
    def traced(v: Any) -> Any:
        with tf.GradientTape() as inside:
            inside.watch(v)
            value = tf.reduce_sum(tf.sin(v) * v)
        return inside.gradient(value, v)

    found: list[Any] = []
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(tf.exp(x) * x + x)
        first = inner.gradient(y, x)
        z = first * cubed(x) + traced(x)
        rows = tf.reduce_sum(tf.nn.embedding_lookup(table, [1, 1, 3]) * z)
    found += [first, outer.gradient(z, x, output_gradients=tf.constant([1.0, 3.0])), outer.jacobian(first, x),
              outer.jacobian(first, x, experimental_use_pfor=False)]
    sparse = outer.gradient(rows, table)
    found += [sparse.values, sparse.indices]
    with tf.GradientTape() as tape:             # a py_function can be differentiated once only
        once = tf.py_function(lambda v: v * v, [x * 2.0], tf.float32) + cubed(x)
    found.append(tape.gradient(once, x))
    with tf.GradientTape() as tape:
        tape.watch(batch := tf.constant([[1.0, 2.0], [3.0, 4.0]]))
        out = batch ** 2
    found.append(tape.batch_jacobian(out, batch))
    return [tensor.numpy().tobytes() for tensor in found]


def test_higher_orders_persistent_tapes_rows_and_jacobians_are_the_same_bit_for_bit(tf: Any, tmp_path: Path) -> None:
    plain = variety(tf)
    with recorded(tmp_path) as trace:
        assert variety(tf) == plain
        with trace() as reading:
            tapes = [tape_of(reading, run.id) for run in reading.runs() if run.label.startswith('GradientTape')]
    assert variety(tf) == plain
    sparse = [source for tape in tapes for source in tape.sources if source.rows]
    assert [(source.name, source.gradient and source.gradient.tensor.shape) for source in sparse] == [('table', (3, 2))]
    second = next(tape for tape in tapes if any(node.op_type == 'CustomGradient' for node in tape.nodes))
    kinds = {node.op_type for node in second.nodes}
    assert {'CustomGradient', 'PartitionedCall', 'Exp'} <= kinds and len(second.roots) == 1
    assert any('jacobian' in tape.source for tape in tapes) and any(tape.traced for tape in tapes)


def test_a_traced_pass_shows_its_structure_and_what_is_missing(tf: Any, tmp_path: Path) -> None:
    def double(v: Any) -> Any:
        return v * 2.0

    w, cut = tf.Variable(3.0, name='w'), tf.Variable(2.0, name='cut')

    @tf.function
    def train() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.py_function(double, [w * w], tf.float32, name='double') * tf.round(cut)
        return tape.gradient(loss, [w, cut], unconnected_gradients='zero')

    found, tape = taped(tmp_path, train)
    assert [float(one) for one in found] == [24, 0]
    assert tape.traced and 'train is traced' in tape.source
    assert ('mul_1', 'double') in edges(tape) and ('double', 'mul') in edges(tape)
    (python,) = [node for node in tape.nodes if node.function]
    assert python.incoming[0].magnitude == 2 and python.inner_steps == 1     # of when it ran
    (dead,) = tape.dead
    assert dead.name == 'cut' and 'Round' in dead.dead
    line = train.python_function.__code__.co_firstlineno + 3
    made = f'test_tensorflow_tape.py:{line}'            # the program's own line, not that of AutoGraph's
    assert {node.place for node in tape.nodes} <= {made, ''} and python.place == made and f'Round ({made})' in dead.dead


@pytest.mark.parametrize('ops', [True, False])
def test_an_infinity_in_a_traced_pass_begins_where_a_python_function_gave_it(tf: Any, tmp_path: Path, ops: bool) -> None:
    """The step after that function passes its gradient on: it was said to begin there, too."""
    def root(v: Any) -> Any:
        return tf.sqrt(v)

    w, b = tf.Variable([0.0, 4.0], name='w'), tf.Variable([0.0, 0.0], name='b')

    @tf.function
    def train() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.py_function(root, [tf.add(w * 0.0, b)], tf.float32, name='root') * 3.0
        return tape.gradient(loss, [w, b])

    with pyfuncdbg.attach('tensorflow'), pyfuncdbg.record(tmp_path / 'tape.pfd', ops=ops):
        train()
    with pyfuncdbg.load(tmp_path / 'tape.pfd') as trace:
        tape = tape_of(trace, next(run.id for run in trace.runs() if run.label.endswith(TRACED)))
        shown = ' '.join(execute(f'tape --run {tape.run}', Context(trace)).text(200).split())
    named = {node.name: node for node in tape.nodes}
    assert np.array_equal(named['Add'].incoming[0].tensor.to_numpy(), [np.inf, np.inf])
    assert shown.count('begins') == 1 and 'Inf begins in the backward step of root' in shown
    assert ('are those of its last run' in shown) == ops


@pytest.mark.parametrize('ops', [True, False])
def test_traced_passes_of_two_functions_whose_nodes_have_the_same_names(tf: Any, tmp_path: Path, ops: bool) -> None:
    """The tape of the first had the values, the infinity and the function of the second."""
    a, b = tf.Variable([1.0], name='a'), tf.Variable([2.0], name='b')

    def tenfold(v: Any) -> Any:
        return v * 10.0

    def log(v: Any) -> Any:
        return tf.math.log(v - 2.0)

    @tf.function
    def first() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.py_function(tenfold, [a * 1.0], tf.float32) * 1.0
        return tape.gradient(loss, a)

    @tf.function
    def second() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.py_function(log, [b * 1.0], tf.float32) * 1.0
        return tape.gradient(loss, b)

    with pyfuncdbg.attach('tensorflow'), pyfuncdbg.record(tmp_path / 'tape.pfd', ops=ops):
        assert float(first()[0]) == 10 and np.isinf(float(second()[0]))
    with pyfuncdbg.load(tmp_path / 'tape.pfd') as trace:
        traced = [tape_of(trace, run.id) for run in trace.runs() if run.label.endswith(TRACED)]
        found = [(node.function.rpartition('.')[2], node.incoming[0].magnitude) for tape in traced for node in tape.nodes
                 if node.op_type == 'EagerPyFunc']
        assert found == [('tenfold', 1), ('log', 1)]
        (mul, other) = [node for tape in traced for node in tape.nodes if node.name == 'mul']
        assert mul.incoming[0].magnitude == 10 and 'Inf' in other.incoming[0].remarks
        leaves = [source.gradient.magnitude for tape in traced for source in tape.sources if source.gradient is not None]
        assert leaves[0] == (10 if ops else None)
        steps = {call.site.stack[-1].line for call in trace.calls(kind='gradient', limit=None)
                 if call.site.op_type == 'EagerPyFunc' and call.forward}
        assert steps == {function.python_function.__code__.co_firstlineno + 3 for function in (first, second)}


def test_a_step_that_was_traced_has_symbolic_tensors_and_no_objects(tf: Any, tmp_path: Path) -> None:
    w = tf.Variable(3.0, name='w')

    @tf.function
    def train() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.py_function(lambda v: v * 2.0, [w * w], tf.float32, name='double')
        return tape.gradient(loss, w)

    with recorded(tmp_path) as trace:
        train()
        with trace() as reading:
            first = next(call for call in reading.calls(kind='gradient', limit=None) if call.site.attrs.get('traced'))
            last = [call for call in reading.calls(kind='gradient', limit=None) if not call.site.attrs.get('traced')][-1]
            card, values = (execute(f'call {call.number}', Context(reading)).text(160) for call in (first, last))
            assert 'object' not in card and ' 8 B' not in card and 'symbolic' in card and 'symbolic' not in values
            with pytest.raises(CommandError, match=f"'#{first.number}:in0' is symbolic"):
                execute(f'pt #{first.number}:in0', Context(reading))
            assert 'float32 []' in execute(f'pt #{last.number}:in0', Context(reading)).text(160)


def test_a_function_in_a_traced_one_is_a_part_of_its_step(tf: Any, tmp_path: Path) -> None:
    def double(v: Any) -> Any:
        return v * 2.0

    w = tf.Variable(3.0, name='w')

    @tf.function
    def model(x: Any) -> Any:
        return tf.py_function(double, [x * w], tf.float32, name='double') * tf.sqrt(w)

    def program() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.exp(model(1.0) / 10.0)
        return tape.gradient(loss, w)

    with recorded(tmp_path) as trace:
        for _ in range(2):
            program()
        with trace() as reading:
            tape, summary = tape_of(reading), summarize(reading)
            others = [tape_of(reading, run) for run, _ in tape.other_runs]
            ends = sum(len(one.sources) for one in (tape, *others))
    names = {node.number: node.name for node in tape.nodes}
    assert [names[root] for root in tape.roots] == ['Exp']
    (part,) = [node for node in tape.nodes if node.outer_step]
    assert (part.name, part.inner_steps, names[part.outer_step]) == ('double', 1, 'model')
    lines = Answer(TAPE, tape).text(160).splitlines()
    at = next(i for i, line in enumerate(lines) if 'inside --' in line)
    assert '> model' in lines[at - 1] and 'double' in lines[at] and '(leaf)' in lines[at + 1]
    assert summary.calls['gradient'] == sum(len(one.nodes) for one in (tape, *others)) > 0
    assert ends > 1                             # rows of their own in the trace, which are no steps
    assert [arrow.label for arrow in tape_diagram(tape, 'mermaid', 100).arrows if arrow.dashed] == ['inside']


def test_what_a_rule_raises_is_as_without_us(tf: Any, tmp_path: Path) -> None:
    @tf.custom_gradient
    def broken(v: Any) -> Any:
        def rule(dy: Any) -> Any:
            raise LookupError('planted')
        return v * 2.0, rule

    x = tf.Variable(1.0)

    def raised() -> tuple[str, list[str]]:
        with pytest.raises(LookupError) as caught, tf.GradientTape() as tape:
            tape.gradient(broken(x) * 3.0, x)
        return str(caught.value), [entry.name for entry in caught.traceback if not is_own_file(str(entry.path))]

    plain = raised()
    with recorded(tmp_path):
        watched = raised()
        with pytest.raises(LookupError) as caught, tf.GradientTape() as tape:
            tape.gradient(broken(x) * 3.0, x)
    assert watched == plain and plain[1][-1] == 'rule'
    assert not [entry for entry in caught.traceback if is_own_file(str(entry.path))]


def test_tapes_of_several_threads(tf: Any, tmp_path: Path) -> None:
    found: dict[int, float] = {}

    def work(number: int) -> None:
        x = tf.Variable(float(number), name=f'x{number}')
        for _ in range(5):
            with tf.GradientTape() as tape:
                y = tf.sin(x) * x if number % 2 else x * x * x
            found[number] = float(tape.gradient(y, x))

    with recorded(tmp_path) as trace:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with trace() as reading:
            tapes = [tape_of(reading, run.id) for run in reading.runs() if run.label == 'GradientTape.gradient']
    assert len(tapes) == 20
    for tape in tapes:
        (source,) = tape.sources
        number = int(source.name[1:])
        assert source.gradient and source.gradient.magnitude == pytest.approx(abs(found[number]), rel=1e-6)
        assert sorted(node.name for node in tape.nodes if node.name != 'ReadVariableOp') == (
            ['Mul', 'Sin'] if number % 2 else ['Mul', 'Mul'])


def test_detached_or_unwatched_nothing_is_left(tf: Any, tmp_path: Path) -> None:
    from tensorflow.python.eager import backprop, backprop_util, context, imperative_grad, record, tape as tapes
    from tensorflow.python.ops import custom_gradient

    def places() -> list[int]:
        return [id(thing) for thing in (
            backprop.gen_math_ops, tapes.push_new_tape, tapes.push_tape, tapes.pop_tape, backprop.GradientTape.reset,
            backprop.GradientTape.jacobian, backprop.GradientTape.batch_jacobian,
            backprop_util.AggregateIndexedSlicesGradients, imperative_grad.imperative_grad, record.record_operation,
            record.record_operation_backprop_only, custom_gradient._eager_mode_decorator)]

    x = tf.Variable(2.0)
    before = places()
    with pyfuncdbg.attach('tensorflow'):
        with tf.GradientTape() as tape:
            assert not context.context().op_callbacks       # nobody wants gradients
            y = x * x
        assert float(tape.gradient(y, x)) == 4
    assert places() == before
    with recorded(tmp_path) as trace:
        recording = tf.GradientTape(persistent=True)
        with recording:
            assert len(context.context().op_callbacks) == 1
            y = x * x
        assert not context.context().op_callbacks
        hook_count = len(hooks.gradient)
    assert places() == before and hook_count == 1
    assert float(recording.gradient(y, x)) == 4             # made while attached, differentiated later
    with trace() as reading:
        assert not reading.calls(kind='gradient')


def test_no_tensor_is_kept_alive(tf: Any, tmp_path: Path) -> None:
    import weakref
    x = tf.Variable(np.ones(1000, 'f'))
    with recorded(tmp_path):
        with tf.GradientTape() as tape:
            y = x * 2.0
            alive = weakref.ref(y)
        tape.gradient(y, x)
        del y, tape
        gc.collect()
        assert alive() is None


def test_a_gradient_lives_no_longer_than_without_us(tf: Any, tmp_path: Path) -> None:
    import weakref
    counts: list[int] = []
    made: list[Any] = []

    def link() -> Any:
        @tf.custom_gradient
        def passed(v: Any) -> Any:
            def rule(dy: Any) -> Any:
                counts.append(sum(one() is not None for one in made))
                found = dy * 2.0
                made.append(weakref.ref(found))
                return found
            return v * 2.0, rule
        return passed

    x, links = tf.Variable(np.ones(1000, 'f')), [link() for _ in range(6)]

    def program() -> list[int]:
        counts.clear()
        made.clear()
        with tf.GradientTape() as tape:
            value = x
            for one in links:
                value = one(value) + 1.0
        tape.gradient(value, x)
        return list(counts)

    plain = program()
    with recorded(tmp_path):
        assert program() == plain and max(plain) <= 1


@pytest.mark.parametrize('ops', [False, True])
def test_gradients_of_a_session(tf: Any, tmp_path: Path, ops: bool) -> None:
    v1 = tf.compat.v1

    def cube(v: Any) -> Any:
        return v ** 3

    with pyfuncdbg.attach('tensorflow'), pyfuncdbg.record(tmp_path / 'tape.pfd', ops=ops) as recorder:
        with tf.Graph().as_default():
            x = v1.placeholder(tf.float32, [2, 3], name='x')
            w = v1.get_variable('w', initializer=np.ones((3, 2), 'f'), use_resource=True)
            old = v1.get_variable('old', initializer=np.ones(2, 'f'), use_resource=False)
            cut = v1.get_variable('cut', initializer=np.ones(2, 'f'))
            hidden = tf.nn.relu(tf.matmul(x, w) + old, name='hidden')
            cubes = tf.py_function(cube, [hidden], tf.float32, name='cubes')
            minus = tf.numpy_function(np.negative, [cut], tf.float32, name='neg')
            loss = tf.reduce_sum(cubes * hidden) + tf.reduce_sum(minus)
            gradients = tf.gradients(loss, [w, old, cut, x])
            with v1.Session() as session:
                session.run(v1.global_variables_initializer())
                found = session.run([gradients[0], gradients[1], gradients[3]], {x: np.arange(6).reshape(2, 3) / 7})
        assert gradients[2] is None
        recorder.flush()
        with Trace.open(tmp_path / 'tape.pfd') as reading:
            tape = tape_of(reading)
    assert tape.traced and tape.source == 'tf.gradients while a graph is traced'
    assert edges(tape) >= {('mul', 'cubes'), ('mul', 'hidden'), ('cubes', 'hidden'), ('hidden', 'add'), ('add', 'MatMul'),
                           ('MatMul', '->x'), ('MatMul/ReadVariableOp', '->w'), ('old/read', '->old')}
    (dead,) = tape.dead
    assert dead.name == 'cut' and "numpy_function 'neg'" in dead.dead
    sizes = [source.gradient.magnitude for source in tape.sources if source.gradient]
    assert sizes == ([largest(one) for one in found] if ops else [None] * 3)
    (python,) = [node for node in tape.nodes if node.function]
    assert python.incoming[0].magnitude and python.inner_steps == 1          # seen without ops too


def test_the_backward_function_of_a_traced_one(tf: Any, tmp_path: Path) -> None:
    w = tf.Variable([1.0, 2.0], name='w')

    @tf.function
    def forward(v: Any) -> Any:
        return tf.reduce_sum(tf.sin(v) * w)

    with pyfuncdbg.attach('tensorflow'), pyfuncdbg.record(tmp_path / 'tape.pfd', ops=True) as recorder:
        with tf.GradientTape() as tape:
            loss = forward(tf.constant([0.5, 0.25])) * 3.0
        found = tape.gradient(loss, w)
        recorder.flush()
        with Trace.open(tmp_path / 'tape.pfd') as reading:
            whole = tape_of(reading)
            (inner,) = [tape_of(reading, run.id) for run in reading.runs() if run.label.startswith('tf.gradients')]
    assert edges(whole) == {('Mul', 'forward'), ('forward', '->w')} and not whole.traced
    assert {(name.rpartition('/')[2], to) for name, to in edges(inner)} >= {('Sum', 'mul'), ('ReadVariableOp', '->w')}
    (source,) = [source for source in inner.sources if source.name == 'w']
    assert source.gradient and source.gradient.magnitude == largest(found)


def test_a_step_that_made_nodes_of_a_backward_function_is_unchecked_for_that(tf: Any, tmp_path: Path) -> None:
    w = tf.Variable([1.0, 2.0], name='w')

    @tf.function
    def forward(v: Any) -> Any:
        return tf.reduce_sum(tf.py_function(lambda a: a * a, [v * w], tf.float32))

    with pyfuncdbg.attach('tensorflow'), pyfuncdbg.record(tmp_path / 'tape.pfd', ops=True):
        with tf.GradientTape() as tape:
            loss = forward(tf.constant([0.5, 0.25]))
        tape.gradient(loss, w)
    with Trace.open(tmp_path / 'tape.pfd') as trace:
        steps = [step for step in trace.calls(kind='gradient') if step.site.op_type == 'EagerPyFunc']
        reasons = [[edge.outcome.reason for edge in check_step(trace, step)] for step in steps
                   if all(tensor.dtype == 'object' for tensor in step.outputs)]
    assert reasons == [['it created nodes of a backward pass, which have values only when they run']]


UNNAMED = """
class Model(tf.Module):
    def __init__(self):
        super().__init__()
        self.scale = tf.Variable(2.0)

model, first = Model(), tf.Variable([1.0, 2.0])
listed = [tf.Variable([3.0]), tf.Variable([4.0, 5.0]), tf.Variable(1.0, name='bias')]
sources = [first, model.scale, *listed]

def compute():
    return tf.reduce_sum(first) * model.scale * tf.reduce_sum(listed[0] * listed[1]) + listed[2]

for function, asked in ((compute, sources), (tf.function(compute), sources[::-1])):
    with tf.GradientTape() as tape:
        result = function()
    tape.gradient(result, asked)
"""


def test_variables_that_have_no_name_of_their_own_can_be_told_apart(tf: Any, tmp_path: Path) -> None:
    with recorded(tmp_path) as trace:
        exec(compile(UNNAMED, 'unnamed.py', 'exec'), {'tf': tf})
        with trace() as reading:
            named = [{edge.gradient.name for edge in tape_of(reading, run.id).edges if not edge.target}
                     for run in reading.runs() if run.label == 'GradientTape.gradient']
    numbered = named[0] - {'first', 'model.scale', 'bias'}
    assert len(numbered) == 2 and all(name.startswith('Variable') for name in numbered)
    assert named == [numbered | {'first', 'model.scale', 'bias'}] * 2
