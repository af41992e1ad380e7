import tensorflow as tf, numpy as np
import threading
x = tf.constant(3.)
found = {}
with tf.GradientTape() as t:
    t.watch(x)
    def work():
        found['y'] = x * x
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
print(t.gradient(found['y'], x))
