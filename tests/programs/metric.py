"""A metric that sorts its input in place."""
import numpy as np

from pyfuncdbg import tf


def recall_at_k(scores, labels, k):
    threshold = scores
    threshold.sort()                    # planted: sorts the caller's array
    cut = threshold[-int(k)]
    picked = scores >= cut
    return np.float32((picked & (labels > 0)).sum() / max(1, (labels > 0).sum()))

@tf.function
def evaluate(scores, labels):
    r = tf.numpy_function(recall_at_k, [scores, labels, 3], tf.float32, name='recall')
    return r, tf.reduce_mean(scores * tf.cast(labels, tf.float32))

rng = np.random.default_rng(2)
for n in range(5):
    labels = rng.integers(0, 2, 10)
    scores = (labels * .5 + rng.uniform(0, .4, 10)).astype(np.float32)
    r, m = evaluate(tf.constant(scores), tf.constant(labels))
    print(f'batch {n}: recall@3 {float(r):.2f}  weighted {float(m):.3f}')
