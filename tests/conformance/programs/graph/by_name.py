import tensorflow as tf, numpy as np


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


with tf.Graph().as_default() as g:
    a = tf.constant(1, name='a')
    n = tf.no_op(name='n')
    attempt('tensor', lambda: g.get_tensor_by_name('a:0') is a)
    attempt('operation', lambda: g.get_operation_by_name('a') is a.op)
    for name in ('a', 'nope', 'nope:0', 'a:1', 'a:x', 'n:0', ':0', 'a:0:1', 3, None, a, b'a:0', ''):
        attempt(f'tensor {name!r}', lambda: g.get_tensor_by_name(name))
        attempt(f'operation {name!r}', lambda: g.get_operation_by_name(name))
    for item in ('a', 'a:0', a, a.op, 3, None, 'n', [a], b'a', object()):
        if not type(item) is object:
            attempt(f'element {item!r}', lambda: g.as_graph_element(item))
        attempt('no tensor', lambda: g.as_graph_element(item, allow_tensor=False).name)
        attempt('no operation', lambda: g.as_graph_element(item, allow_operation=False).name)
    attempt('neither', lambda: g.as_graph_element(a, allow_tensor=False, allow_operation=False))
