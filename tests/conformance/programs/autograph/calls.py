import tensorflow as tf, numpy as np
def show(label, f, *args):
    try:
        print(label, f(*args))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def positive(x):
    if x > 0:
        return x
    else:
        return tf.constant(0)
def twice(f, x):
    return f(f(x) - 1)
@tf.function
def calls(x):
    return positive(x), twice(positive, x), twice(lambda v: v if v > 5 else v * 2, x)
show('calls', calls, tf.constant(3)); show('calls', calls, tf.constant(-3))
def recursive(n):
    if n <= 0:
        return 0
    return n + recursive(n - 1)
show('recursive python', tf.function(lambda x: x * recursive(4)), tf.constant(2))
import functools
@tf.function
def partials(x):
    def clip(low, high, v):
        if v < low:
            return low
        if v > high:
            return high
        return v
    return functools.partial(clip, 0, high=10)(x)
for v in (-1, 5, 50):
    show(v, partials, tf.constant(v))
class Clip:
    def __init__(self, low):
        self.low = low
    def __call__(self, x):
        if x < self.low:
            x = tf.constant(self.low)
        return x
    def method(self, x):
        if x > self.low:
            return x - self.low
        return x
    @staticmethod
    def static(x):
        return x if x > 0 else -x
    @classmethod
    def made(cls, x):
        c = cls(1)
        return c(x)
clip = Clip(3)
show('object', tf.function(lambda x: clip(x)), tf.constant(1)); show('object', tf.function(clip), tf.constant(1))
show('method', tf.function(lambda x: clip.method(x)), tf.constant(7)); show('bound', tf.function(clip.method), tf.constant(7))
show('static', tf.function(lambda x: Clip.static(x)), tf.constant(-7)); show('class', tf.function(lambda x: Clip.made(x)), tf.constant(-7))
def default(x, y=3, *args, k=4, **kw):
    if x > 0:
        return x + y + k + sum(args) + sum(kw.values())
    return x
show('arguments', tf.function(lambda x: default(x, 1, 2, 3, k=5, z=6)), tf.constant(1))
