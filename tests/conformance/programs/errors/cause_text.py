import tensorflow as tf, numpy as np

def fail(x):
    raise RuntimeError('two\nlines')


try:
    tf.py_function(fail, [1.], tf.float32)
except tf.errors.UnknownError as error:
    lines = error.message.split('\n')
    print(lines[0].split('}} ')[-1], lines[1], 'Traceback (most recent call last):' in lines, error.op, error.node_def)
