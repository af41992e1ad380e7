import tensorflow as tf, numpy as np


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


with tf.Graph().as_default() as g:
    print([tf.constant(0, name=n).name for n in ('a', 'a', 'A', 'a_1', 'a_1', 'b', 'B_1', 'b', None, None, 'c/d', 'c', 'c/d', '0', '.x')])
    attempt('space', lambda: tf.constant(0, name='a b'))
    attempt('underscore', lambda: tf.constant(0, name='_a').name)
    attempt('dollar', lambda: tf.constant(0, name='a$'))
    attempt('empty', lambda: tf.constant(0, name='').name)
    attempt('slash end', lambda: tf.constant(0, name='exact/').name)
    attempt('slash end again', lambda: tf.constant(0, name='exact/').name)
    attempt('slash start', lambda: tf.constant(0, name='/a').name)
    attempt('colon', lambda: tf.constant(0, name='a:0').name)
    attempt('greater', lambda: tf.constant(0, name='a>b').name)
    attempt('int', lambda: tf.constant(0, name=5).name)
    attempt('unicode', lambda: tf.constant(0, name='ä').name)
    print(g.unique_name('a'), g.unique_name('a'), g.unique_name('a', mark_as_used=False), g.unique_name('a', mark_as_used=False))
    print(g.unique_name('new', mark_as_used=False), tf.constant(0, name='new').name)
