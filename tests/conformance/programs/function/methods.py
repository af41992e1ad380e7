import tensorflow as tf, numpy as np
def show(label, f, *args, **kwargs):
    try:
        print(label, f(*args, **kwargs))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def count(f):
    return f.experimental_get_tracing_count()
class A:
    def __init__(self, k): self.k = k
    @tf.function
    def f(self, x):
        print('trace', self.k)
        return x * self.k
    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def s(self, x):
        return x + self.k
    @staticmethod
    @tf.function
    def static(x):
        return x + 100
    @classmethod
    def cls(cls, x):
        return cls.static(x)
a, b = A(2), A(3)
show('a', a.f, tf.constant(1)); show('b', b.f, tf.constant(1)); show('a', a.f, tf.constant(2)); show('signature', a.s, 5); show('static', A.static, tf.constant(1)); show('class', A.cls, tf.constant(1))
a.k = 50
show('kept', a.f, tf.constant(1)); print(count(a.f), count(b.f)); show('unbound', A.f, a, tf.constant(1))
print(a.f.get_concrete_function(tf.TensorSpec([], tf.int32))(tf.constant(4)))
print(a.f.python_function.__name__, A.f.__name__)
class B(A):
    @tf.function
    def f(self, x):
        return super().f(x) + 1
show('derived', B(7).f, tf.constant(1))
class C:
    @tf.function
    def __call__(self, x):
        return x + 1
show('call', C(), tf.constant(1))
