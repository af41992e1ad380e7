import tensorflow as tf, numpy as np
def show(label, f, *args):
    try:
        print(label, f(*args))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
class Dense(tf.Module):
    def __init__(self, n, name=None):
        super().__init__(name=name)
        self.n = n
        self.w = None
    @tf.Module.with_name_scope
    def __call__(self, x):
        if self.w is None:
            self.w = tf.Variable(tf.ones([x.shape[-1], self.n]), name='w')
            self.b = tf.Variable(tf.zeros([self.n]), name='b', trainable=False)
        return x @ self.w + self.b
class MyMLP2Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.layers = [Dense(3), Dense(2, name='last')]
        self.extra = {'z': tf.Variable(1., name='z'), 'a': (tf.Variable(2., name='a'), 5)}
        self.again = self.layers[0]
    @tf.Module.with_name_scope
    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
m = MyMLP2Net()
print(m.name, m.name_scope.name, m.layers[0].name, m.layers[1].name_scope.name)
print(m(tf.ones([1, 2])))
print([v.name for v in m.variables])
print([v.name for v in m.trainable_variables], [v.name for v in m.non_trainable_variables])
print([s.name for s in m.submodules])
print([(p, getattr(v, 'name', v)) for p, v in m._flatten(predicate=lambda v: isinstance(v, tf.Variable), with_path=True)])
show('bad name', lambda: tf.Module(name='a b'))
show('names', lambda: (tf.Module().name, Dense(1).name))
with tf.name_scope('outer'):
    print(Dense(1).name_scope.name)
f = tf.function(m)
print(f(tf.ones([1, 2])))
print(Dense.__call__.__name__)
a = tf.Module(); b = tf.Module(); a.b = b; b.a = a
print(len(a.submodules), len(b.variables))
print(isinstance(m, tf.Module), type(m).__mro__[1].__name__)
