"""Train a small network on 8x8 handwritten digits. The loss turns NaN after a while: find out why.

A program like a user's: nothing of pyfuncdbg knows it. Run it under the debugger with `pyfuncdbg demo`; with
`--fixed` it trains the repaired version. With `import tensorflow as tf` it does the same under TensorFlow.
"""
from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from pyfuncdbg import tf

BATCH = 32
HIDDEN = 64
TEST_IMAGES = 397
LEARNING_RATE = 0.2


def load_digits() -> tuple[np.ndarray, np.ndarray]:
    """The images, float32 [1797, 64] from 0 to 16, and their digits, int32 [1797]."""
    table = np.loadtxt(Path(__file__).with_name('digits.csv.gz'), delimiter=',', dtype=np.int32)
    return table[:, :-1].astype(np.float32), table[:, -1]


def erase_patches(images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Augmentation: paint a black rectangle of random size over one image in twenty."""
    erased = images.reshape(-1, 8, 8).copy()
    for image in erased:
        if rng.random() < 0.05:
            height, width = rng.integers(2, 9, size=2)
            top, left = rng.integers(0, 9 - height), rng.integers(0, 9 - width)
            image[top:top + height, left:left + width] = 0
    return erased.reshape(images.shape)


def normalize(images: Any) -> Any:
    """Bring each image to mean 0 and standard deviation 1."""
    pixels = images.numpy()
    mean = pixels.mean(axis=1, keepdims=True)
    std = pixels.std(axis=1, keepdims=True)
    if std.min() < 1.5:
        print(f'faint image: number {std.argmin()} of {len(pixels)} has a standard deviation of {std.min():.2f}')
    return (pixels - mean) / std


def normalize_fixed(images: Any) -> Any:
    """As `normalize`; an image of one colour, which has no deviation to divide by, becomes all zeros."""
    pixels = images.numpy()
    mean = pixels.mean(axis=1, keepdims=True)
    std = pixels.std(axis=1, keepdims=True)
    return (pixels - mean) / np.where(std == 0, 1, std)


def dense(x: Any, inputs: int, outputs: int, rng: np.random.Generator, name: str) -> tuple[Any, list[Any]]:
    """A fully connected layer and its variables; the initial weights keep the variance of what goes in."""
    weights = rng.normal(0, np.sqrt(1 / inputs), (inputs, outputs)).astype(np.float32)
    w = tf.Variable(weights, name=name + '_w')
    b = tf.Variable(np.zeros(outputs, np.float32), name=name + '_b')
    return tf.matmul(x, w) + b, [w, b]


def build(normalization: Any, rng: np.random.Generator) -> dict[str, Any]:
    """The parts of the current graph that a program feeds and fetches, by name."""
    x = tf.compat.v1.placeholder(tf.float32, [None, 64], name='images')
    y = tf.compat.v1.placeholder(tf.int32, [None], name='digits')
    normalized = tf.py_function(normalization, [x], tf.float32, name='normalize')
    normalized.set_shape([None, 64])
    hidden, hidden_variables = dense(normalized, 64, HIDDEN, rng, 'hidden')
    logits, logits_variables = dense(tf.tanh(hidden), HIDDEN, 10, rng, 'logits')
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits), name='loss')
    hits = tf.equal(tf.argmax(logits, axis=1, output_type=tf.int32), y)
    variables = hidden_variables + logits_variables
    slopes = tf.gradients(loss, variables)
    return {
        'images': x, 'digits': y, 'loss': loss,
        'accuracy': tf.reduce_mean(tf.cast(hits, tf.float32), name='accuracy'),
        'step': tf.group(*[v.assign_sub(LEARNING_RATE * slope) for v, slope in zip(variables, slopes, strict=True)]),
        'initialize': tf.compat.v1.global_variables_initializer(),
    }


def train(normalization: Any, epochs: int, seed: int = 1) -> float:
    """Train the network, and give the accuracy on images it has not seen."""
    rng = np.random.default_rng(seed)
    images, digits = load_digits()
    order = rng.permutation(len(images))
    test, training = order[:TEST_IMAGES], order[TEST_IMAGES:]
    graph = tf.Graph()
    with graph.as_default():
        net = build(normalization, rng)

    terminal = Console(stderr=True)
    columns = (TextColumn('training'), BarColumn(), MofNCompleteColumn(), TextColumn('{task.fields[loss]}'),
               TimeRemainingColumn())
    with tf.compat.v1.Session(graph=graph) as session, \
            Progress(*columns, console=terminal, disable=not terminal.is_terminal, transient=True) as progress:
        session.run(net['initialize'])
        batches = [training[i:i + BATCH] for i in range(0, len(training), BATCH)]
        task = progress.add_task('training', total=epochs * len(batches), loss='')
        score = 0.0
        for epoch in range(1, epochs + 1):
            losses = []
            for batch in batches:
                feeds = {net['images']: erase_patches(images[batch], rng), net['digits']: digits[batch]}
                _, value = session.run([net['step'], net['loss']], feeds)
                losses.append(value)
                progress.update(task, advance=1, loss=f'loss {value:.3f}')
            score = float(session.run(net['accuracy'], {net['images']: images[test], net['digits']: digits[test]}))
            print(f'epoch {epoch}: loss {np.mean(losses):.3f}, test accuracy {score:.1%}')
    return score


def main() -> None:
    parser = argparse.ArgumentParser(description='Train a small network on handwritten digits.')
    parser.add_argument('--fixed', action='store_true', help='train the repaired version')
    parser.add_argument('--epochs', type=int, default=5, metavar='N', help='rounds over the training images (default 5)')
    options = parser.parse_args()
    score = train(normalize_fixed if options.fixed else normalize, options.epochs)
    print('trained:' if score > 0.9 else 'training failed:', f'test accuracy {score:.1%}')


if __name__ == '__main__':
    main()
