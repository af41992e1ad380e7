"""What sites of nodes tell: attrs as data, devices, control inputs, constants."""
from __future__ import annotations

import numpy as np

from pyfuncdbg import tf
from pyfuncdbg.hosts.numpy.runtime.execution.node_facts import site_attrs


def node(make):
    with tf.Graph().as_default():
        return make().op


def test_constants_are_told_with_their_first_elements():
    def make():
        x = tf.placeholder(tf.float32, [100], name='x')
        return tf.add(x, tf.constant(np.arange(100, dtype=np.float32), name='many'))
    assert site_attrs(node(make))['_constants'] == [['many:0', 'float32', [100], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]]]


def test_text_and_scalars():
    words = node(lambda: tf.strings.join([tf.constant(['x' * 500, 'b'], name='words'), tf.constant('z', name='one')]))
    (words_of, one) = site_attrs(words)['_constants']
    assert words_of[2:] == [[2], [b'x' * 60, b'b']] and one[1:] == ['string', [], [b'z']]


def test_what_runs_is_no_constant():
    assert '_constants' not in site_attrs(node(lambda: tf.negative(tf.placeholder(tf.float32, [2]))))
    assert '_constants' not in site_attrs(node(lambda: tf.negative(tf.random.uniform([2]))))


def test_devices_and_control_inputs():
    def make():
        gate, x = tf.no_op(name='gate'), tf.placeholder(tf.float32, [2])
        with tf.control_dependencies([gate]), tf.device('/cpu:0'):
            return tf.negative(x)
    facts = site_attrs(node(make))
    assert facts['_control'] == ['gate'] and 'CPU:0' in facts['_device'].upper()
    assert {'_control', '_device'}.isdisjoint(site_attrs(node(lambda: tf.negative(tf.placeholder(tf.float32, [2])))))


def test_shapes_are_text():
    assert site_attrs(node(lambda: tf.placeholder(tf.float32, [2, None])))['shape'] == '(2, None)'


def test_a_wrapped_function_tells_them_too():
    def make():
        one = tf.constant(1.0, name='one')
        with tf.control_dependencies([tf.no_op(name='gate')]):
            return tf.numpy_function(np.sin, [one], tf.float32)
    site = node(make).attrs['_py_function'].site
    assert site.attrs['_control'] == ['gate'] and site.attrs['_constants'][0][0] == 'one:0'
