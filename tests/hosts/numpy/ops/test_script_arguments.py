"""`inp`, `Tout` and the decorator form of the script ops."""
from __future__ import annotations

import dataclasses
import inspect
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import pyfuncdbg.tf as tf
from pyfuncdbg.errors import InvalidArgumentError
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.graph.types.spec import TensorSpec
from pyfuncdbg.hosts.numpy.ops.script.calls import (
    eager_py_func,
    framework_py_func,
    numpy_function,
    py_func,
    py_function,
    strict,
)
from pyfuncdbg.hosts.numpy.ops.variables.variable import Variable
from pyfuncdbg.hosts.numpy.runtime.sessions.session import Session


@dataclasses.dataclass(frozen=True)
class Point:
    x: Any
    y: Any


def count(*arguments: Any) -> float:
    return float(len(arguments))


@pytest.mark.parametrize(('function', 'expected'), [
    (py_function, 'func=None, inp=None, Tout=None, name=None'),
    (numpy_function, 'func=None, inp=None, Tout=None, stateful=True, name=None'),
    (py_func, 'func, inp, Tout, stateful=True, name=None'),
    (eager_py_func, 'func, inp, Tout, name=None'),
    (framework_py_func, 'func, args=(), kwargs=None, output_types=None, output_shapes=None, stateful=True, name=None'),
])
def test_signatures_are_tensorflows(function: Any, expected: str) -> None:
    parameters = [p.replace(annotation=p.empty) for p in inspect.signature(function).parameters.values()]
    tensorflows, _, own = ', '.join(map(str, parameters)).partition(', serialize=False')
    assert (tensorflows, own) == (expected, '')         # the body in the node is opt-in, and of ours


@pytest.mark.parametrize(('inp', 'arguments'), [
    ((1.,), 1), (np.array([1., 2., 3.]), 3), ({'a': 1.}, 1), ([[1., 2.], [3.]], 2), ([[1., 2.], [3., 4.]], 2), ('ab', 2),
    ([], 0)])
def test_every_element_that_iterating_gives_is_one_argument(inp: Any, arguments: int) -> None:
    assert float(py_function(count, inp, tf.float32)) == arguments


def test_a_lone_tensor_is_split_along_its_first_axis() -> None:
    assert float(py_function(count, tf.constant([1., 2.]), tf.float32)) == 2
    with pytest.raises(TypeError, match=r'^Cannot iterate over a scalar tensor\.'):
        py_function(count, tf.constant(1.), tf.float32)


@pytest.mark.parametrize(('inp', 'error', 'text'), [
    (5, TypeError, "'int' object is not iterable"), ([None], ValueError, r'Attempt to convert a value \(None\)'),
    ([count], ValueError, 'Attempt to convert a value'), (None, TypeError, 'Missing argument `inp`:')])
def test_what_is_no_input_is_refused(inp: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match='^' + text):
        py_function(count, inp, tf.float32)


def test_missing_arguments_and_what_is_no_function() -> None:
    with pytest.raises(TypeError, match=r"^Missing required argument: 'Tout'"):
        py_function(count, [1.])
    with pytest.raises(TypeError, match=r"^Don't set the `inp` argument when using tf.numpy_function as a decorator"):
        numpy_function(inp=[1.], Tout=tf.float32)
    with pytest.raises(ValueError, match=r"^Expected func to be callable. Received func=3 of type <class 'int'>\."):
        py_function(3, [1.], tf.float32)
    with pytest.raises(TypeError, match="'int' object is not callable"):
        numpy_function(3, [1.], tf.float32)


def test_a_decorated_function_keeps_its_name_and_takes_tensors() -> None:
    @py_function(Tout=tf.float32)
    def add(x: Any, y: Any) -> Any:
        """Adds."""
        return x + y

    assert (add.__name__, add.__doc__, float(add(1., 2.))) == ('add', 'Adds.', 3.)
    with pytest.raises(TypeError, match='unexpected keyword'):
        add(1., y=2.)


@pytest.mark.parametrize('types', [tf.float32, 'float32', np.float32, np.dtype('float32'), float, 1, TensorSpec([])])
def test_one_dtype_gives_one_tensor(types: Any) -> None:
    assert float(py_function(lambda x: x, [2.], types)) == 2


def test_a_list_or_tuple_gives_a_list_and_an_empty_one_an_empty_list() -> None:
    for types in ([tf.float32], (tf.float32,)):
        found = py_function(lambda x: x, [2.], types)
        assert type(found) is list and float(found[0]) == 2
    assert py_function(lambda x: None, [2.], []) == []


@pytest.mark.parametrize('types', [[None], tf.TensorShape([]), 'foo', int])
def test_what_names_no_dtype_is_a_type_error(types: Any) -> None:
    with pytest.raises(TypeError, match='Cannot convert the argument `type_value`'):
        py_function(lambda x: x, [1.], types)


def test_the_shape_of_a_spec_is_static_and_checked() -> None:
    with pytest.raises(InvalidArgumentError, match=r'0-th value .* pyfunc_\d+ has shape \(\), but Tout says \(7,\)'):
        py_function(lambda x: x, [1.], TensorSpec([7]))
    with Graph().as_default():
        y = py_function(lambda: np.array([1., 2.]), [], TensorSpec([None]))
        z = numpy_function(lambda: np.ones(2, np.float32), [], TensorSpec([3]))
        assert y.shape.as_list() == [None] and z.shape.as_list() == [3]
        with Session() as session:
            assert session.run(y).tolist() == [1., 2.]
            with pytest.raises(InvalidArgumentError, match=r'has shape \(2,\), but Tout says \(3,\)'):
                session.run(z)


def test_mappings_and_dataclasses_reach_the_function_in_their_form() -> None:
    seen: list[Any] = []

    def see(argument: Any, number: Any) -> Any:
        seen.append(argument)
        return argument['p'].x + argument['q'][1] + argument['r'][0] + number

    given = {'p': Point(1., [1., 2.]), 'q': (tf.constant([5.]), tf.constant(3.)), 'r': [2., 9.]}
    found = py_function(see, [given, 4.], tf.float32)
    assert float(found) == 10
    assert type(seen[0]['p']) is Point and seen[0]['p'].y.numpy().tolist() == [1., 2.]
    assert type(seen[0]['q']) is tuple and seen[0]['r'].shape == (2,)


def test_a_dataclass_that_is_an_array_is_one_input() -> None:
    @dataclasses.dataclass
    class Measured:
        values: list[float]

        def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
            return np.array(self.values, dtype)

    assert py_function(lambda a: a.shape, [Measured([1., 2., 3.])], [tf.int32])[0].numpy() == 3


@pytest.mark.parametrize('op', [py_function, numpy_function])
def test_nested_results_come_back_in_the_form_of_tout(op: Any) -> None:
    types = {'a': tf.float32, 'b': Point(TensorSpec([2], tf.float32), [tf.int64])}

    def give(x: Any) -> Any:
        return {'b': Point(np.ones(2, np.float32), [np.int64(3)]), 'a': np.float32(2)}

    with Graph().as_default():
        found = op(give, [1.], types)
        assert found['b'].x.shape.as_list() == [2]
        with Session() as session:
            a, x, y = session.run([found['a'], found['b'].x, found['b'].y[0]])
    assert (a, x.tolist(), y) == (2., [1., 1.], 3)
    if op is py_function:
        assert py_function(give, [1.], types)['b'].x.numpy().tolist() == [1., 1.]


def test_a_result_of_another_form_says_what_was_expected() -> None:
    with pytest.raises(InvalidArgumentError, match=r"returned \{'c': 1\} where Tout has .*: expected the keys 'a'"):
        py_function(lambda: {'c': 1}, [], {'a': tf.float32})


def test_names_of_nodes_and_of_constant_inputs() -> None:
    with Graph().as_default() as graph:
        y = py_func(lambda a, b, c: a, [1, 'a', [1., 2.]], tf.int32, name='inps')
        assert [t.name for t in y.op.inputs] == ['inps/input_0:0', 'inps/input_1:0', 'inps/input_2:0']
        assert [t.dtype.name for t in y.op.inputs] == ['int32', 'string', 'float32']
        assert py_function(count, [], tf.float32).name == 'EagerPyFunc:0'
        assert py_func(count, [], tf.float32, stateful=False).name == 'PyFuncStateless:0'
        with graph.name_scope('sc'):
            assert py_function(count, [], tf.float32, name='k').name == 'sc/k:0'
        with pytest.raises(ValueError, match="'a b' is not a valid root scope name"):
            py_function(count, [], tf.float32, name='a b')


def test_empty_tout_in_a_graph() -> None:
    with Graph().as_default():
        op = py_func(lambda: None, [], [])
        assert isinstance(op, Operation) and op.type == 'PyFunc'
        assert py_func(lambda: None, [], [], stateful=False) == []
        with Session() as session:
            assert session.run(op) is None


def test_attrs_are_tensorflows() -> None:
    with Graph().as_default():
        op = py_function(count, [1.], tf.float32).op
        shown = op.shown_attrs()
        assert sorted(shown) == ['Tin', 'Tout', 'is_async', 'token']
        assert shown['Tin'] == [tf.float32] and shown['Tout'] == [tf.float32] and shown['token'].startswith(b'pyfunc_')
        assert sorted(py_func(count, [], tf.float32).op.shown_attrs()) == ['Tin', 'Tout', 'token']


def test_what_the_function_sees() -> None:
    seen: list[Any] = []

    def see(*arguments: Any) -> float:
        seen[:] = arguments
        return 1.

    numpy_function(see, [tf.constant(1.), 2, 'abc', tf.constant(['a', 'bb']), Variable(3.)], tf.float64)
    assert [(type(a), a.shape, a.dtype.kind, a.flags.writeable) for a in seen] == [
        (np.ndarray, (), 'f', True), (np.ndarray, (), 'i', True), (np.ndarray, (), 'U', True), (np.ndarray, (2,), 'O', True),
        (np.ndarray, (), 'f', True)]
    with Graph().as_default():
        y = numpy_function(see, [tf.constant(1.), 2, 'abc', tf.constant(['a', 'bb']), [1, 2]], tf.float64)
        with Session() as session:
            session.run(y)
    assert [type(a) for a in seen] == [np.float32, np.int32, bytes, np.ndarray, np.ndarray]
    assert seen[2] == b'abc' and seen[3].tolist() == [b'a', b'bb'] and seen[4].flags.writeable


def test_strict_holds_eager_numpy_function_to_tout() -> None:
    assert numpy_function(lambda: 2.5, [], tf.int32).dtype.name == 'float32'
    strict()
    try:
        with pytest.raises(InvalidArgumentError, match='is double, but expects int32'):
            numpy_function(lambda: 2.5, [], tf.int32)
        assert numpy_function(lambda: 2.5, [], [tf.float64])[0].dtype.name == 'float64'
    finally:
        strict(False)


def test_the_contrib_form_nests_arguments_and_results() -> None:
    def compute(a: Any, pair: Any, *, scale: Any) -> Any:
        return {'sum': a + pair[0] + pair[1]['k'], 'scaled': np.stack([a * scale] * 2)}

    with Graph().as_default():
        found = framework_py_func(compute, (tf.constant(1.), [2., {'k': 3.}]), {'scale': 4.},
                                  {'sum': tf.float32, 'scaled': tf.float32}, {'sum': [], 'scaled': [2]})
        assert found['scaled'].shape.as_list() == [2]
        with Session() as session:
            assert session.run(found['sum']) == 6. and session.run(found['scaled']).tolist() == [4., 4.]


def test_a_namedtuple_counts_as_several_values() -> None:
    pair = namedtuple('pair', 'a b')
    assert [float(t) for t in py_function(lambda: pair(1., 2.), [], [tf.float32] * 2)] == [1., 2.]
