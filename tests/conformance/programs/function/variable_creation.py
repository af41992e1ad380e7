import tensorflow as tf, numpy as np
def show(label, f, *args, **kwargs):
    try:
        print(label, f(*args, **kwargs))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def count(f):
    return f.experimental_get_tracing_count()
class M:
    w = None
    @tf.function
    def once(self, x):
        if self.w is None:
            self.w = tf.Variable(2., name='w')
        return x * self.w
m = M()
show('once', m.once, tf.constant(3.)); show('again', m.once, tf.constant(4.)); show('other shape', m.once, tf.constant([4.])); print(m.w.name)
@tf.function
def always(x):
    return tf.Variable(1.) + x
show('always', always, tf.constant(1.)); show('always again', always, tf.constant(1.))
made = []
@tf.function
def depends(x):
    if not made:
        made.append(tf.Variable(x))
    return made[0] + x
show('depends on argument', depends, tf.constant(2.)); show('again', depends, tf.constant(5.))
other = []
@tf.function
def later(x, flag):
    if flag and not other:
        other.append(tf.Variable(1.))
    return x
show('first', later, tf.constant(1.), False); show('later', later, tf.constant(1.), True)
