"""Training of a small convolutional network on the digits, with a Python function in it."""
import sys, numpy as np, jax, jax.numpy as jnp, os
import pyfuncdbg
path = os.path.join(os.path.dirname(pyfuncdbg.__file__), 'demo', 'digits.csv.gz')
table = np.loadtxt(path, delimiter=',', dtype=np.int32, max_rows=256)
images, labels = table[:, :-1].reshape(-1, 8, 8, 1).astype('f') / 16, table[:, -1]
key = jax.random.key(0)
def init(key):
    a, b, c = jax.random.split(key, 3)
    return {'conv': jax.random.normal(a, (3, 3, 1, 8)) * .3, 'dense': jax.random.normal(b, (4 * 4 * 8, 10)) * .1, 'bias': jnp.zeros(10)}
def augment(x):                                  # a Python function, as people have
    return np.asarray(x) * np.float32(1.0)
def forward(p, x):
    x = jax.pure_callback(augment, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
    x = jax.lax.conv_general_dilated(x, p['conv'], (1, 1), 'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC'))
    x = jax.nn.relu(x)
    x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), 'VALID')
    x = x.reshape(x.shape[0], -1)
    return x @ p['dense'] + p['bias']
def loss(p, x, y):
    z = forward(p, x)
    q = jax.nn.softmax(z)
    return -jnp.log(q[jnp.arange(len(y)), y]).mean()
@jax.jit
def step(p, x, y):
    value, g = jax.value_and_grad(loss)(p, x, y)
    return jax.tree.map(lambda w, d: w - 20. * d, p, g), value
p = init(key)
for k in range(40):
    i = (k * 32) % 256
    p, value = step(p, images[i:i+32], labels[i:i+32])
    if k % 8 == 0: print(k, float(value))
print(float(value))
