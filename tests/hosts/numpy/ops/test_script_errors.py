"""Exceptions of wrapped functions: class, text, cause, and what passes through."""
from __future__ import annotations

import traceback
from typing import Any

import numpy as np
import pytest

import pyfuncdbg.tf as tf
from pyfuncdbg import errors
from pyfuncdbg.hooks.own_files import is_machinery
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.ops.script.calls import numpy_function, py_func, py_function
from pyfuncdbg.hosts.numpy.runtime.sessions.session import Session


class WeirdError(Exception):
    pass


class OwnValueError(ValueError):
    pass


TABLE = [
    (ValueError, errors.InvalidArgumentError), (TypeError, errors.InvalidArgumentError),
    (OwnValueError, errors.InvalidArgumentError), (StopIteration, errors.OutOfRangeError),
    (MemoryError, errors.ResourceExhaustedError),
    (NotImplementedError, errors.UnimplementedError), (RuntimeError, errors.UnknownError), (KeyError, errors.UnknownError),
    (IndexError, errors.UnknownError), (FileNotFoundError, errors.UnknownError), (AssertionError, errors.UnknownError),
    (StopAsyncIteration, errors.UnknownError), (RecursionError, errors.UnknownError), (GeneratorExit, errors.UnknownError),
    (WeirdError, errors.UnknownError)]


def raiser(error: BaseException) -> Any:
    def inner() -> None:
        raise error

    def outer() -> None:
        inner()
    return outer


@pytest.mark.parametrize(('raised', 'kind'), TABLE)
@pytest.mark.parametrize('op', [py_function, py_func])
def test_each_exception_has_its_class_and_is_the_cause(
        op: Any, raised: type[BaseException], kind: type[errors.OpError]) -> None:
    error = raised('m')
    with Graph().as_default():
        y = op(raiser(error), [], tf.float32, name='here')
        with Session() as session, pytest.raises(kind) as caught:
            session.run(y)
    assert type(caught.value) is kind and caught.value.__cause__ is error
    assert caught.value.op is y.op
    assert f'{raised.__name__}: {error}\nTraceback (most recent call last):\n' in str(caught.value)
    assert [entry.name for entry in traceback.extract_tb(error.__traceback__)] == ['outer', 'inner']


@pytest.mark.parametrize(('raised', 'kind'), TABLE)
def test_eager_py_function_maps_and_numpy_function_does_not(raised: type[BaseException], kind: type[errors.OpError]) -> None:
    error = raised('m')
    with pytest.raises(kind) as caught:
        py_function(raiser(error), [], tf.float32)
    assert caught.value.__cause__ is error
    with pytest.raises(raised) as raw:
        numpy_function(raiser(error), [], tf.float32)
    assert raw.value is error


def test_an_error_of_tensorflows_own_tree_becomes_unknown() -> None:
    error = errors.NotFoundError(None, None, 'm')
    with pytest.raises(errors.UnknownError, match='NotFoundError: m') as caught:
        py_function(raiser(error), [], tf.float32)
    assert caught.value.__cause__ is error


def test_the_text_of_an_eager_error() -> None:
    with pytest.raises(errors.InvalidArgumentError) as caught:
        py_function(raiser(ValueError('blah')), [], tf.float32, name='mypf')
    text = str(caught.value)
    assert text.startswith('{{function_node __wrapped__EagerPyFunc_Tin_0_Tout_1_device_/job:localhost/replica:0/task:0/'
                           'device:CPU:0}} ValueError: blah\nTraceback (most recent call last):\n\n  File "')
    assert text.endswith('\n\nValueError: blah\n\n [Op:EagerPyFunc] name: mypf')
    error = caught.value
    assert (error.message, error.op, error.node_def, error.error_code, error.args) == (text, None, None, 3, ())


def test_the_text_of_a_session_error() -> None:
    with Graph().as_default(), Session() as session:
        y = py_function(raiser(KeyError('blah')), [], tf.float32, name='mypf')
        with pytest.raises(errors.UnknownError) as caught:
            session.run(y)
    text = str(caught.value)
    assert text.startswith("Graph execution error:\n\nDetected at node 'mypf' defined at (most recent call last):\n")
    assert "Node: 'mypf'\nKeyError: 'blah'\nTraceback (most recent call last):\n\n  File " in text
    assert "\nKeyError: 'blah'\n\n\n\t [[{{node mypf}}]]" in text


@pytest.mark.parametrize('op', [py_function, py_func, numpy_function])
@pytest.mark.parametrize('error', [KeyboardInterrupt(), SystemExit(3), errors.RunAborted()])
@pytest.mark.parametrize('in_graph', [False, True])
def test_what_ends_the_program_passes_through(op: Any, error: BaseException, in_graph: bool) -> None:
    if not in_graph:
        with pytest.raises(type(error)) as caught:
            op(raiser(error), [], tf.float32)
    else:
        with Graph().as_default(), Session() as session, pytest.raises(type(error)) as caught:
            session.run(op(raiser(error), [], tf.float32))
    assert caught.value is error


def test_an_exception_that_cannot_be_shown_is_reported() -> None:
    class BrokenError(Exception):
        def __str__(self) -> str:
            raise RuntimeError('no text')

    with pytest.raises(errors.UnknownError, match='BrokenError: <exception str\\(\\) failed>') as caught:
        py_function(raiser(BrokenError()), [], tf.float32)
    assert type(caught.value.__cause__) is BrokenError


def test_wrong_arity() -> None:
    with pytest.raises(errors.InvalidArgumentError, match=r'TypeError: .*takes 0 positional arguments but 1 was given'):
        py_function(lambda: 1, [1.], tf.int64)


def test_a_session_goes_on_after_a_failure() -> None:
    calls: list[int] = []

    def once() -> float:
        calls.append(1)
        if len(calls) == 1:
            raise ValueError('once')
        return 1.

    with Graph().as_default(), Session() as session:
        y = py_func(once, [], tf.float64)
        with pytest.raises(errors.InvalidArgumentError):
            session.run(y)
        assert session.run(y) == 1.


@pytest.mark.parametrize('op', [py_function, numpy_function])
def test_a_symbolic_tensor_in_the_body_is_refused(op: Any) -> None:
    with Graph().as_default(), Session() as session:
        p = tf.constant(1.)
        if op is py_function:
            y = op(lambda: p + 1., [], tf.float32)
            kind, text = errors.InvalidArgumentError, r'TypeError: <tf.Tensor .* is out of scope and cannot be used here'
        else:
            y = op(lambda: np.asarray(p), [], tf.float32)
            kind, text = errors.UnimplementedError, 'NotImplementedError: Cannot convert a symbolic'
        with pytest.raises(kind, match=text):
            session.run(y)


def test_the_cause_has_no_frame_of_the_machinery_in_front() -> None:
    with pytest.raises(errors.OpError) as caught:
        py_function(lambda: tf.constant([1., 2., 3.]) + tf.constant([1., 2.]), [], tf.float32)
    cause = caught.value.__cause__
    assert cause is not None and cause.__traceback__ is not None
    assert not is_machinery(cause.__traceback__.tb_frame.f_code.co_filename)
