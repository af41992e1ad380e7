"""A GraphDef, its text and its import: the same values and the same text for every op and for random graphs; damaged ones
are refused and leave the graph as it was."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from examples import EXAMPLES, Example
from google.protobuf import text_format
from hypothesis import given, settings, strategies as st

import pyfuncdbg.tf as tf
from pyfuncdbg.hosts.numpy.graph.operation import Operation

v1 = tf.compat.v1
CASES = [pytest.param(op, example, id=f'{op}-{i}') for op, group in EXAMPLES.items() for i, example in enumerate(group)]


def parsed(text: str) -> Any:
    return text_format.Parse(text, v1.GraphDef())


def again(graph: Any, fetches: list[Any], feeds: dict[str, Any] | None = None) -> list[Any]:
    """The values that the imported text of a graph gives; its text must be the same."""
    text = text_format.MessageToString(graph.as_graph_def())     # `str` of protobuf 5.29 leaves out backslashes
    with v1.Graph().as_default() as other, v1.Session() as session:
        imported = tf.import_graph_def(parsed(text), return_elements=[t.name for t in fetches], name='')
        assert text_format.MessageToString(other.as_graph_def()) == text
        return list(session.run(imported, feeds))


def assert_same(found: list[Any], expected: list[Any]) -> None:
    for a, b in zip(map(np.asarray, found), map(np.asarray, expected), strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        assert a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes()


@pytest.mark.parametrize(('op', 'example'), CASES)
def test_every_op(op: str, example: Example) -> None:
    with v1.Graph().as_default() as graph, v1.Session() as session:
        node = graph.create_op(op, [tf.constant(value) for value in example.inputs], dict(example.attrs))
        expected = session.run(node.outputs)
    assert_same(again(graph, node.outputs), expected)


# ---------------------------------------------------------------- random graphs
def twice(x: Any) -> Any:
    return x * np.float32(2)


@tf.function
def shifted(x: Any) -> Any:
    return x - 1., tf.reduce_sum(x)


STEPS: dict[str, Callable[..., Any]] = {
    'add': lambda a, b: a + b, 'multiply': lambda a, b: a * b - 1., 'maximum': tf.maximum, 'tanh': lambda a, b: tf.tanh(a),
    'where': lambda a, b: tf.where(a > b, a, b), 'stack': lambda a, b: tf.reduce_mean(tf.stack([a, b]), 0),
    'slice': lambda a, b: tf.concat([a[1:], b[:1]], 0), 'cast': lambda a, b: tf.cast(tf.cast(a, tf.int32), tf.float32),
    'matmul': lambda a, b: tf.reshape(tf.matmul(tf.reshape(a, [1, 3]), tf.ones([3, 3])), [3]),
    'split': lambda a, b: tf.concat(tf.split(a, [1, 2])[::-1], 0), 'gather': lambda a, b: tf.gather(a, [2, 0, 0]),
    'numpy': lambda a, b: tf.ensure_shape(tf.numpy_function(twice, [a], tf.float32), [3]),
    'python': lambda a, b: tf.ensure_shape(tf.py_function(twice, [b], tf.float32), [3]),
    'function': lambda a, b: shifted(a)[0] + shifted(b)[1], 'identity': lambda a, b: tf.identity(a),
    'constant': lambda a, b: a + tf.constant([1., -2., 0.25]), 'top': lambda a, b: tf.nn.top_k(a, 3)[0],
}


@st.composite
def programs(draw: st.DrawFn) -> list[tuple[str, int, int, str]]:
    count = draw(st.integers(3, 25))
    return [(draw(st.sampled_from(sorted(STEPS))), draw(st.integers(0, i)), draw(st.integers(0, i)),
             draw(st.sampled_from(['', '/cpu:0', '/job:localhost', 'wait', 'scope', 'beside']))) for i in range(count)]


@settings(max_examples=40, deadline=None)
@given(programs(), st.lists(st.floats(-3, 3, width=32), min_size=3, max_size=3))
def test_random_graphs(program: list[tuple[str, int, int, str]], values: list[float]) -> None:
    with v1.Graph().as_default() as graph, v1.Session() as session:
        tensors = [v1.placeholder(tf.float32, [3], name='fed')]
        for step, a, b, where in program:
            around = (tf.control_dependencies([tensors[-1]]) if where == 'wait' else tf.name_scope('s') if where == 'scope'
                      else v1.colocate_with(tensors[a]) if where == 'beside' else tf.device(where))
            with around:
                tensors.append(STEPS[step](tensors[a], tensors[b]))
        expected = session.run(tensors[1:], {'fed:0': values})
    assert_same(again(graph, tensors[1:], {'fed:0': values}), expected)


# ---------------------------------------------------------------- refusals
def sample() -> str:
    with v1.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [3], name='x')
        with tf.control_dependencies([tf.no_op(name='first')]), tf.device('/cpu:0'):
            y = tf.concat(tf.split(x * [1., 2., 3.], 3), 0)
        with v1.colocate_with(x):
            z, n = shifted(tf.numpy_function(twice, [y], tf.float32))
        v1.get_variable('v', initializer=[2.], use_resource=True).assign_add([1.])
        tf.reduce_sum(z, name='sum') + n
    return str(graph.as_graph_def())


SAMPLE = sample()
TOKENS = SAMPLE.split()
REFUSALS = (ValueError, TypeError, tf.errors.OpError)


def names(graph: Any) -> list[str]:
    return [op.name for op in graph.get_operations()]


@settings(max_examples=250, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(TOKENS) - 1), st.integers(0, len(TOKENS) - 1), st.sampled_from(
    ['copy', 'drop', 'swap', 'zero', 'large', 'text'])), min_size=1, max_size=4))
def test_damaged_text_is_refused_or_runs(damages: list[tuple[int, int, str]]) -> None:
    tokens = list(TOKENS)
    for at, other, kind in damages:
        tokens[at] = {'copy': TOKENS[other], 'drop': '', 'swap': tokens[other], 'zero': '0', 'large': '99999999999',
                      'text': '"x"'}[kind]
    with v1.Graph().as_default() as graph:
        kept = tf.constant(1., name='kept')
        before, text = names(graph), str(graph.as_graph_def())
        try:
            message = parsed(' '.join(tokens))
        except (text_format.ParseError, ValueError):        # a number that is too large, says protobuf
            return
        try:
            tf.import_graph_def(message, name='')
        except REFUSALS:
            assert (names(graph), str(graph.as_graph_def())) == (before, text)
        else:
            assert str(graph.as_graph_def())    # what was imported can be written
        with v1.Session() as session:
            try:
                assert session.run(kept) == 1.
            except tf.errors.InvalidArgumentError as error:
                assert 'assign a device' in str(error) or 'Malformed device' in str(error)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damaged_bytes_are_refused(data: st.DataObject) -> None:
    content = bytearray(parsed(SAMPLE).SerializeToString())
    for _ in range(data.draw(st.integers(1, 6))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    try:
        message = v1.GraphDef.FromString(bytes(content))
    except Exception as error:                  # protobuf's own
        assert type(error).__name__ == 'DecodeError'
        return
    with v1.Graph().as_default() as graph:
        tf.constant(1., name='kept')
        try:
            tf.import_graph_def(message, name='')
        except REFUSALS:
            assert names(graph) == ['kept']


CONSTANT = ('node { name: "c" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } '
            'attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { } float_val: 2 } } } } ')


@pytest.mark.parametrize('late', [
    'node { name: "d" op: "Identity" input: "c:1" attr { key: "T" value { type: DT_FLOAT } } }',
    'node { name: "d" op: "Nope" }',
    'node { name: "d" op: "Identity" input: "c" attr { key: "T" value { type: DT_INT32 } } }',
    'node { name: "d" op: "NoOp" device: "foo" }', 'node { name: "d" op: "If" input: "c" }',
    'node { name: "d" op: "PartitionedCall" attr { key: "Tin" value { list { } } } attr { key: "Tout" value { list { } } } '
    'attr { key: "f" value { func { name: "nope" } } } }',
])
def test_nothing_is_left_of_a_failed_import(late: str) -> None:
    with v1.Graph().as_default() as graph:
        x = tf.constant(1., name='x')
        with tf.control_dependencies([x]):
            before = str(graph.as_graph_def())
            with pytest.raises(REFUSALS):
                tf.import_graph_def(parsed(CONSTANT + late), name='')
            assert str(graph.as_graph_def()) == before and names(graph) == ['x']
            imported, = tf.import_graph_def(parsed(CONSTANT), return_elements=['c'], name='')   # the name is free again
        assert isinstance(imported, Operation) and imported.name == 'c'
        with v1.Session() as session:
            assert session.run('c:0') == 2.


@pytest.mark.parametrize('number', [10 ** 4, 10 ** 11])
def test_more_inputs_than_memory_holds_are_refused(number: int) -> None:
    node = ('node { name: "p" op: "Pack" input: "c" attr { key: "T" value { type: DT_FLOAT } } '
            f'attr {{ key: "N" value {{ i: {number} }} }} }}')
    with v1.Graph().as_default() as graph:
        with pytest.raises(ValueError, match=f'expected {number} inputs, which do not match 1 inputs specified'):
            tf.import_graph_def(parsed(CONSTANT + node), name='')
        assert names(graph) == []


@pytest.mark.parametrize(('op', 'attr', 'inputs'), [('Unpack', 'num', 'c'), ('Split', 'num_split', 'k c')])
def test_more_outputs_than_memory_holds_are_refused(op: str, attr: str, inputs: str) -> None:
    axis = CONSTANT.replace('"c"', '"k"').replace('DT_FLOAT', 'DT_INT32').replace('float_val', 'int_val')
    node = (f'node {{ name: "s" op: "{op}" ' + ' '.join(f'input: "{name}"' for name in inputs.split()) +
            f' attr {{ key: "T" value {{ type: DT_FLOAT }} }} attr {{ key: "{attr}" value {{ i: 99999999999 }} }} }}')
    with v1.Graph().as_default() as graph:
        with pytest.raises(ValueError, match=f'99999999999 outputs.*{op}'):
            tf.import_graph_def(parsed(CONSTANT + axis + node), name='')
        assert names(graph) == []


def test_a_function_that_calls_itself_is_refused() -> None:
    function = ('function { signature { name: "f" } node_def { name: "g" op: "PartitionedCall" '
                'attr { key: "Tin" value { list { } } } attr { key: "Tout" value { list { } } } '
                'attr { key: "f" value { func { name: "f" } } } } }')
    call = function[function.index('node_def'):].replace('node_def', 'node')[:-2]
    with v1.Graph().as_default(), pytest.raises(ValueError, match=r'Function f calls itself: f -> f'):
        tf.import_graph_def(parsed(f'{call} library {{ {function} }}'))


def test_from_version_gives_what_came_since() -> None:
    with v1.Graph().as_default() as graph:
        tf.constant(1., name='old')
        mark = graph.version
        tf.constant(2., name='new')
    assert [node.name for node in graph.as_graph_def(from_version=mark).node] == ['new']
    assert [node.name for node in graph.as_graph_def().node] == ['old', 'new']


def test_variables_of_an_import_are_those_of_the_session() -> None:
    with v1.Graph().as_default() as graph:
        v = v1.get_variable('v', initializer=[1., 2.], use_resource=True)
        tf.add(v.assign_add([10., 10.]), 0., name='more')
    with v1.Graph().as_default(), v1.Session() as session:
        more, read, start = tf.import_graph_def(graph.as_graph_def(), name='i', return_elements=[
            'more:0', 'v/Read/ReadVariableOp:0', 'v/Assign'])
        with pytest.raises(tf.errors.FailedPreconditionError):
            session.run(read)
        session.run(start)
        assert session.run(more).tolist() == [11., 12.] and session.run(read).tolist() == [11., 12.]


def test_gradients_of_an_import_are_made_anew() -> None:
    with v1.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [], name='x')
        y = tf.py_function(lambda a: a * a, [x], tf.float32, name='y')
        before = graph.as_graph_def()
        tf.gradients(y, x)
    with v1.Graph().as_default(), v1.Session() as session:
        with pytest.raises(ValueError, match=r"part of the gradient of 'y'"):
            tf.import_graph_def(graph.as_graph_def())
        q = v1.placeholder(tf.float32, [])
        imported, = tf.import_graph_def(before, {'x': q}, ['y:0'])
        assert session.run(tf.gradients(imported, q), {q: 3.}) == [6.]


# ---------------------------------------------------------------- functions within nodes
def counted(x: Any) -> Any:
    return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [tf.constant(0), x])[1]


def limited(x: Any) -> Any:
    return tf.while_loop(lambda a: a < 30., lambda a: [a * 2.], [x], maximum_iterations=3)[0]


def chosen(x: Any) -> Any:
    weight = tf.constant(7.)
    return tf.cond(x > 1., lambda: x * weight, lambda: x - 1.)


def switched(x: Any) -> Any:
    python = tf.ensure_shape(tf.numpy_function(twice, [x], tf.float32), [])
    return tf.switch_case(tf.cast(x, tf.int32), [lambda: x, lambda: python + x, lambda: x * x])


def within(x: Any) -> Any:
    return tf.while_loop(lambda a: a < 9., lambda a: [tf.abs(chosen(a)) + x + 1.], [x])[0]


@pytest.mark.parametrize('build', [counted, limited, chosen, switched, within])
def test_branches_and_loops(build: Callable[[Any], Any]) -> None:
    with v1.Graph().as_default() as graph, v1.Session() as session:
        x = v1.placeholder(tf.float32, [], name='x')
        y = tf.identity(build(x), name='y')
        before = graph.as_graph_def()
        slope, = tf.gradients(y, x)
        for value in (0.5, 2., 15.):
            expected = session.run(y, {x: value})
            with v1.Graph().as_default() as other:
                imported, fed = tf.import_graph_def(parsed(str(before)), return_elements=['y:0', 'x:0'], name='')
                assert str(other.as_graph_def()) == str(before)
                with v1.Session() as second:
                    assert second.run(imported, {fed: value}) == expected
                    if build is not switched:       # a function of arrays has no gradient
                        assert second.run(tf.gradients(imported, fed), {fed: value}) == [session.run(slope, {x: value})]


def test_a_loop_that_does_not_count_is_refused() -> None:
    with v1.Graph().as_default() as graph:
        counted(tf.constant(2.))
    message = graph.as_graph_def()
    body, = (function for function in message.library.function if len(function.signature.output_arg) > 1)
    count = body.signature.output_arg[0].name
    body.ret[count] = body.signature.input_arg[0].name
    with v1.Graph().as_default() as other:
        with pytest.raises(ValueError, match='does not count iterations as the body of a loop does'):
            tf.import_graph_def(message)
        assert names(other) == []
