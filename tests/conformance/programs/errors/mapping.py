import tensorflow as tf, numpy as np

v1 = tf.compat.v1

class Mine(ValueError):
    pass


class Stop(StopIteration):
    pass


with tf.Graph().as_default(), v1.Session() as sess:
    for kind in (ValueError, TypeError, StopIteration, MemoryError, NotImplementedError, RuntimeError, KeyError, OSError, AssertionError,
                 ZeroDivisionError, Mine, Stop, UnicodeError, RecursionError, StopAsyncIteration, LookupError):
        def fail(kind=kind):
            raise kind('m')
        y = v1.py_func(fail, [], tf.float32)
        try:
            sess.run(y)
        except tf.errors.OpError as error:
            print(kind.__name__, type(error).__name__, error.error_code, [l for l in str(error).split('\n') if kind.__name__ + ':' in l][0])
