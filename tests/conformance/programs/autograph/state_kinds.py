import tensorflow as tf, numpy as np
def show(label, f, *args):
    try:
        print(label, f(*args))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
@tf.function
def tuple_state(n):
    state = (tf.constant(0), tf.constant(1))
    for _ in tf.range(n):
        state = (state[1], state[0] + state[1])
    return state
show('tuple', tuple_state, tf.constant(10))
@tf.function
def list_state(n):
    state = [tf.constant(0), tf.constant(1)]
    while n > 0:
        a, b = state
        state = [b, a + b]
        n -= 1
    return state
show('list', list_state, tf.constant(10))
@tf.function
def dict_state(n):
    state = {'a': tf.constant(0), 'b': tf.constant(1)}
    for _ in tf.range(n):
        state = {'a': state['b'], 'b': state['a'] + state['b']}
    return state['a']
show('dict', dict_state, tf.constant(10))
@tf.function
def item(n):
    d = {'x': tf.constant(0)}
    for i in tf.range(n):
        d['x'] += i
    return d['x']
show('item', item, tf.constant(5))
@tf.function
def item_if(x):
    d = {'x': x, 'y': x}
    if x > 0:
        d['x'] = x * 2
    else:
        d['y'] = x * 3
    return d
show('item if', item_if, tf.constant(5)); show('item if', item_if, tf.constant(-5))
class Box:
    pass
@tf.function
def attribute(x):
    b = Box()
    b.v = x
    if x > 0:
        b.v = b.v * 2
    while b.v < 100:
        b.v = b.v + 50
    return b.v
show('attribute', attribute, tf.constant(5))
@tf.function
def array(n):
    ta = tf.TensorArray(tf.float32, size=n)
    for i in tf.range(n):
        ta = ta.write(i, tf.cast(i, tf.float32) ** 2)
    return ta.stack()
show('TensorArray', array, tf.constant(4))
