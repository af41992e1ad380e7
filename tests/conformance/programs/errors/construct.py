import tensorflow as tf, numpy as np


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


for name in sorted(n for n in dir(tf.errors) if n.endswith('Error') and n not in ('OpError', 'InaccessibleTensorError',
                                                                                   'OperatorNotAllowedInGraphError')):
    error = getattr(tf.errors, name)(None, None, 'text')
    print(name, error.error_code, error.op, error.node_def, error.message, str(error), repr(error), error.args, error.experimental_payloads)
e = tf.errors.OpError(None, None, 'm', 42)
print(e.error_code, e, isinstance(e, Exception))
attempt('few', lambda: tf.errors.OpError(None, None, 'm'))
attempt('three', lambda: tf.errors.InvalidArgumentError(None, None, 'm', {'a': b'b'}).experimental_payloads)
attempt('raise', lambda: (_ for _ in ()).throw(tf.errors.NotFoundError(None, None, 'gone')))
attempt('named', lambda: tf.errors.NotFoundError(node_def=None, op=None, message='gone').message)
