"""CSV lines -> features, in a parallel map. One line in 500 is broken."""
import numpy as np

from pyfuncdbg import tf

rng = np.random.default_rng(1)
lines = []
for n in range(500):
    price = '' if n == 371 else f'{rng.uniform(1, 100):.2f}'
    lines.append(f'{n},{price},{rng.integers(0, 5)}'.encode())

def parse(line):
    _, price, kind = line.decode().split(',')
    values = np.zeros(6, np.float32)
    values[0] = float(price)
    values[1 + int(kind)] = 1
    return values

def fn(line):
    y = tf.numpy_function(parse, [line], tf.float32, name='parse')
    y.set_shape([6])
    return y

ds = tf.data.Dataset.from_tensor_slices(lines).shuffle(500, seed=3).map(fn, num_parallel_calls=4).batch(32)
total = 0
for batch in ds:
    total += float(tf.reduce_sum(batch[:, 0]))
print('total price', round(total, 2))
