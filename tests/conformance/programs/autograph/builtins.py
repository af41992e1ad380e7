import tensorflow as tf, numpy as np
def show(label, f, *args):
    try:
        print(label, f(*args))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
@tf.function
def lengths(x):
    return len(x), len(x[0]), len([1, 2])
show('len', lengths, tf.constant([[1, 2, 3]]))
@tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
def unknown(x):
    return len(x)
show('len unknown', unknown, tf.constant([1, 2, 3]))
show('len scalar', tf.function(lambda x: len(x)), tf.constant(1))
@tf.function
def conversions(x):
    return int(x), float(x), abs(x)
show('float', conversions, tf.constant(-3.7)); show('int', conversions, tf.constant(-3)); show('python', conversions, -3.7)
show('from text', tf.function(lambda s: (int(s), float(s))), tf.constant('12'))
show('base', tf.function(lambda s: int(s, 2)), tf.constant('12'))
@tf.function
def python_only(x):
    return [a + b for a, b in zip([1, 2], [3, 4])], list(map(lambda v: v * 2, [1, 2])), [i for i, _ in enumerate('ab')], any([0, 1]), all([0, 1]), sorted([3, 1, 2]), list(filter(lambda v: v > 1, [1, 2])), max(1, 2), isinstance(x, tf.Tensor)
show('python only', python_only, tf.constant(1))
show('bool', tf.function(lambda x: bool(x)), tf.constant(True))
show('list', tf.function(lambda x: list(x)), tf.constant([1]))
show('comprehension', tf.function(lambda x: [v for v in x]), tf.constant([1]))
show('sum', tf.function(lambda x: sum(x)), tf.constant([1]))
