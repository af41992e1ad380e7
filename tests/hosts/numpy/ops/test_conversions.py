"""Objects of a program's own classes that become tensors, and what a program of TensorFlow 1 calls and needs no more."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import pyfuncdbg.tf as tf
from pyfuncdbg.hosts.numpy.ops.definition import constant


class Money:
    def __init__(self, cents: int) -> None:
        self.cents = cents


class Euro(Money):
    pass


@pytest.fixture(autouse=True)
def table() -> Iterator[None]:
    yield
    constant.registered.clear()


def test_an_object_converted_by_a_function_of_the_program() -> None:
    def convert(value: Money, dtype: Any = None, name: Any = None, as_ref: bool = False) -> Any:
        return tf.constant(value.cents, dtype or tf.int32, name=name or 'money')
    tf.register_tensor_conversion_function(Money, convert)
    assert (tf.convert_to_tensor(Money(5)) + Euro(7)).numpy() == 12
    assert tf.convert_to_tensor(Money(5), tf.float32).dtype == tf.float32
    with tf.Graph().as_default():
        assert tf.identity(Money(3)).op.inputs[0].op.type == 'Const'


def test_functions_are_asked_by_priority_and_may_decline() -> None:
    def last(value: Any, **_: Any) -> Any:
        return tf.constant(1)

    def first(value: Any, **_: Any) -> Any:
        return tf.constant(2) if isinstance(value, Euro) else NotImplemented
    tf.register_tensor_conversion_function(Money, last)
    tf.register_tensor_conversion_function((Money,), first, priority=10)
    assert tf.convert_to_tensor(Euro(0)).numpy() == 2
    assert tf.convert_to_tensor(Money(0)).numpy() == 1


def test_without_a_function_an_object_is_no_tensor() -> None:
    with pytest.raises(ValueError, match='unsupported type'):
        tf.convert_to_tensor(Money(5))


def test_there_are_no_queues_to_start() -> None:
    with tf.Graph().as_default():
        with tf.compat.v1.Session():
            assert tf.compat.v1.train.start_queue_runners() == []
        with pytest.raises(ValueError, match='No default session'):
            tf.compat.v1.train.start_queue_runners()
        with pytest.raises(TypeError, match=r'must be a .tf\.Session.'):
            tf.compat.v1.train.start_queue_runners(sess=5)
