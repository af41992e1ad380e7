import tensorflow as tf, numpy as np

def show(label, function):
    try:
        print(label, function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


show('float', lambda: tf.Variable(1.5))
show('list', lambda: tf.Variable([1, 2]))
show('name', lambda: tf.Variable(1., name='w'))
show('dtype', lambda: tf.Variable(1, dtype=tf.float64))
show('string', lambda: tf.Variable('a'))
show('bool', lambda: tf.Variable([True]))
show('function', lambda: tf.Variable(lambda: tf.ones([2])))
show('none', lambda: tf.Variable())
show('shape', lambda: tf.Variable([1., 2.], shape=[None]).shape)
show('any shape', lambda: tf.Variable([1., 2.], shape=tf.TensorShape(None)).shape)
show('wrong shape', lambda: tf.Variable([1., 2.], shape=[3]))
show('trainable', lambda: (tf.Variable(1.).trainable, tf.Variable(1., trainable=False).trainable, tf.Variable(1).trainable))
show('constraint', lambda: tf.Variable(1., constraint=tf.nn.relu).constraint is tf.nn.relu)
show('bad constraint', lambda: tf.Variable(1., constraint=3))
show('synchronization', lambda: tf.Variable(1.).synchronization)
show('aggregation', lambda: tf.Variable(1., aggregation=tf.VariableAggregation.SUM).aggregation.name)
show('names', lambda: [tf.Variable(1.).name, tf.Variable(1.).name])
show('object', lambda: tf.Variable(object()))
