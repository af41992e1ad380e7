import tensorflow as tf, numpy as np

v1 = tf.compat.v1

names = sorted(n for n in dir(tf.errors) if not n.startswith('_'))
print(names)
print(sorted(n for n in dir(v1.errors) if not n.startswith('_')))
for name in names:
    thing = getattr(tf.errors, name)
    if isinstance(thing, type):
        print(name, thing.__mro__[1].__name__)
    else:
        print(name, thing)
