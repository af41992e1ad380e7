import tensorflow as tf, numpy as np
def show(label, f, *args):
    try:
        print(label, f(*args))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
class Counter(tf.Module):
    def __init__(self):
        super().__init__(name='counter')
        self.total = tf.Variable(0)
        self.seen = 0
    @tf.function
    def add(self, xs):
        for x in xs:
            if x > 0:
                self.total.assign_add(x)
        return self.total
    def helper(self, x):
        if x > 10:
            return x * 2
        return x
    @tf.function
    def calls(self, x):
        return self.helper(x)
    @tf.function
    def attribute(self, n):
        self.seen = 0
        for i in tf.range(n):
            self.seen = self.seen + i
        r = self.seen
        self.seen = None
        return r
c = Counter()
show('add', c.add, tf.constant([1, -2, 3])); show('again', c.add, tf.constant([1, 1, 1]))
show('helper', c.calls, tf.constant(11)); show('attribute', c.attribute, tf.constant(4))
class Derived(Counter):
    def helper(self, x):
        if x > 0:
            return super().helper(x) + 1
        else:
            return super(Derived, self).helper(x) - 1
d = Derived()
show('super', d.calls, tf.constant(20)); show('super', d.calls, tf.constant(-20))
