import tensorflow as tf, numpy as np
import dataclasses

v1 = tf.compat.v1


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


@dataclasses.dataclass
class Pair:
    first: object
    second: object

    def __tf_flatten__(self):
        return (), (self.first, self.second)

    @classmethod
    def __tf_unflatten__(cls, metadata, components):
        return cls(*components)


with tf.Graph().as_default(), v1.Session() as sess:
    a = tf.constant(1)
    attempt('dataclass', lambda: sess.run(Pair(a, a)))
    attempt('in a list', lambda: sess.run([Pair(a, a), a]))
