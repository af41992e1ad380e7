"""Memory of a recorded JAX program over many training steps: `python tests/benchmarks/bench_jax_memory.py [STEPS]`.

Prints the resident memory of the process after each tenth of the steps. A step is dispatched from C++, calls one
`pure_callback` and one `debug.callback`, and its results are read. `plain` as an argument: without a recorder; `trace`:
with what `tracemalloc` says has grown.
"""
from __future__ import annotations

import gc
import os
import sys
import tempfile
import tracemalloc
from contextlib import nullcontext
from pathlib import Path

os.environ.setdefault('JAX_PLATFORMS', 'cpu')

import jax
import jax.numpy as jnp
import numpy as np

import pyfuncdbg
from pyfuncdbg.observers.record.recorder import Recorder


def clip(gradient: np.ndarray) -> np.ndarray:
    return np.clip(gradient, -1, 1)


@jax.jit
def step(weights: jax.Array, inputs: jax.Array) -> jax.Array:
    gradient = jax.grad(lambda w: ((inputs @ w) ** 2).mean())(weights)
    jax.debug.callback(lambda value: None, gradient[0])
    return weights - .1 * jax.pure_callback(clip, jax.ShapeDtypeStruct(gradient.shape, gradient.dtype), gradient)


def resident() -> float:
    """Megabytes of memory that this process has."""
    pages = int(Path('/proc/self/statm').read_text().split()[1])
    return pages * os.sysconf('SC_PAGE_SIZE') / 2**20


def main(steps: int, recorded: bool, traced: bool) -> None:
    weights, inputs = jnp.ones(16), jnp.ones((8, 16))
    if traced:
        tracemalloc.start()
    earlier = None
    with tempfile.TemporaryDirectory() as folder, pyfuncdbg.attach('jax'), (
            Recorder(Path(folder) / 'trace.pfd', budget=64 << 20) if recorded else nullcontext()):
        for number in range(1, steps + 1):
            weights = step(weights, inputs)
            if number % 10 == 0:
                float(weights[0])
            if number % (steps // 10) == 0:
                gc.collect()
                of_python = f', {tracemalloc.get_traced_memory()[0] / 2**20:.2f} MB by Python' if traced else ''
                print(f'{number:>9,} steps: {resident():.1f} MB, {len(gc.get_objects()):,} objects{of_python}', flush=True)
                if traced and number == steps * 3 // 10:
                    earlier = tracemalloc.take_snapshot()
        if traced and earlier is not None:
            for difference in tracemalloc.take_snapshot().compare_to(earlier, 'lineno')[:12]:
                print('  ', difference)


if __name__ == '__main__':
    words = sys.argv[1:]
    main(int(next((word for word in words if word.isdigit()), '100000')), 'plain' not in words, 'trace' in words)
