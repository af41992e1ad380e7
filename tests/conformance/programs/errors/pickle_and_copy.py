import tensorflow as tf, numpy as np
import copy
import pickle

error = tf.errors.NotFoundError(None, None, 'gone', {'k': 'v'})
print(type(copy.copy(error)).__name__, type(pickle.loads(pickle.dumps(error))).__name__)
print(pickle.loads(pickle.dumps(error)).error_code)
