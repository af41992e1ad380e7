"""Functions with known properties, each called four times; `pure_*` are pure."""
import argparse
import datetime
import functools
import itertools
import logging
import os
import random
import sys
import threading
import time
import types
import warnings
from contextlib import suppress
from time import perf_counter

import audit_module
import numpy as np

from pyfuncdbg import tf

SCALE, NAMES, CONFIG = 2.0, ('a', 'b'), {'bias': 0.5}
COUNT, STEP, LAST, LOG = 0, 0, None, []
ARGS = argparse.Namespace(scale=2.0, seed=0)
SETTINGS = types.SimpleNamespace(rate=0.5, names=['a'], step=0)
RNG = np.random.default_rng(5)
NUMBERS = itertools.count()
HANDLE = sys.stderr
print('the training begins', file=sys.stderr)


# ------------------------------------------------------------------ pure
def pure_sum(x):
    return x + 1


def helper(x):
    return x * SCALE + CONFIG['bias'] + len(NAMES)


def pure_helper(x):
    return helper(x)


def pure_module(x):
    return x * audit_module.TABLE['scale']


def pure_seeded(x):
    return x + np.random.default_rng(0).normal() + random.Random(7).random()


def pure_sort(x):
    return np.sort(-x)


def pure_copy(x):
    y = x.copy()
    y[0] = 9
    return y


def pure_timed(x):
    start = perf_counter()
    y = np.exp(x)
    if perf_counter() - start > 1e6:
        print('slow')
    return y


def pure_fixed_time(x):
    return x + datetime.datetime(2020, 1, 1).month + time.gmtime(0).tm_year + len(time.strftime('%Y', time.gmtime(5)))


def pure_thread(x):
    return x + (threading.get_ident() > -1) + (threading.current_thread() is not None)


def pure_local_state(x):
    seen, numbers = [], iter([1, 2, 3])
    for value in x:
        seen.append(value + next(numbers))
    return np.array(seen)


def pure_recursion(x):
    return x if x.sum() > 100 else pure_recursion(x * 2 + 1)


def pure_raises(x):
    if x[0] > 1:
        raise ValueError(f'too large: {x[0]} in {object()}')
    return x + 1


def pure_nan(x):
    return np.log(x - 2) / (x - 1)


def pure_matmul(x):
    return np.outer(x, x) @ x


def pure_default(x, power=3):
    return x ** power


def pure_outputs(x):
    return x + 1, (x > 0).astype(np.int64)


def pure_ops(x):
    return tf.reduce_sum(tf.square(x))


def pure_text(x):
    return tf.strings.join([x, b'\x00', x])


def pure_unused_branch(x):
    return x + COUNT if x.sum() < 0 else x + 2


def make_pure_closure(factor):
    def pure_closure(x):
        return x * factor
    return pure_closure


@functools.lru_cache(maxsize=2)
def cached(number):
    return number ** 2


def pure_cached(x):
    return x + cached(len(x))


class Layer:
    made = 0

    def __init__(self):
        self.weights = np.arange(3.0)
        self.calls = 0
        self.rng = np.random.default_rng(1)

    def pure_method(self, x):
        return x * self.weights

    def own_generator(self, x):
        return x + self.rng.normal()

    def counts(self, x):
        self.calls += 1
        return x + self.calls

    def counts_class(self, x):
        Layer.made += 1
        return x + 1


# ------------------------------------------------------------------ not pure
def prints(x):
    print('sum', x.sum())
    return x + 1


def prints_error(x):
    sys.stderr.write('an error\n')
    return x + 1


def warns(x):
    warnings.warn('too small', UserWarning, stacklevel=1)
    return x + 1


def logs(x):
    logging.getLogger('audit').warning('a record')
    return x + 1


def writes_input(x):
    x += 1
    return x * 2


def alias(x):
    return x[::2]


def writes_and_returns(x):
    x *= 2
    return x


def draws_numpy(x):
    return x + np.random.rand()


def draws_python(x):
    return x + random.gauss(0, 1)


def draws_global(x):
    return x + RNG.normal()


def draws_module(x):
    return x + audit_module.TABLE['rng'].normal()


def make_draws_closure(rng):
    def draws_closure(x):
        return x + rng.normal()
    return draws_closure


def draws_ops(x):
    return x + tf.random.normal([], dtype=tf.float64)


def unseeded(x):
    return x + np.random.default_rng().normal()


def system_entropy(x):
    return x + int.from_bytes(os.urandom(4), 'little')


def of_time(x):
    return x + time.time()


def of_month(x):
    return x + datetime.datetime.now().month


def of_duration(x):
    start = perf_counter()
    return x + (perf_counter() - start)


def of_thread(x):
    return x + threading.get_ident()


def of_thread_local(x):
    return x + audit_module.LOCAL.bias


def counts(x):
    global COUNT
    COUNT += 1
    return x + COUNT


def counts_in_module(x):
    audit_module.COUNTS['calls'] += 1
    return x + 1


def writes_log(x):
    LOG.append(float(x.sum()))
    return x + 1


def writes_only(x):
    global LAST
    LAST = float(x.sum()) + 1000 * random.Random(4).random()
    return x + 1


def pure_arguments(x):
    return x * float(sys.argv[1]) * ARGS.scale


def of_settings(x):
    return x * SETTINGS.rate


def of_step(x):
    return x + STEP


def make_counter():
    calls = 0

    def counter(x):
        nonlocal calls
        calls += 1
        return x + calls
    return counter


def default_list(x, seen=[]):                   # noqa: B006
    seen.append(1)
    return x + len(seen)


def own_attribute(x):
    own_attribute.last = float(x.sum())
    return x + 1


def environment(x):
    os.environ['AUDIT_PROGRAM'] = str(x.sum())
    return x + 1


def error_state(x):
    np.seterr(under='raise')
    return x + 1


def of_iterator(x):
    return x + next(NUMBERS)


def of_handle(x):
    return x + HANDLE.fileno()


def call(function, value, *types):
    with suppress(Exception):
        tf.numpy_function(function, [value], list(types) or tf.float64)


audit_module.LOCAL.bias = 1.5
layer = Layer()
closure, draws_closure, counter = make_pure_closure(3.0), make_draws_closure(np.random.default_rng(2)), make_counter()
FUNCTIONS = (
    pure_sum, pure_helper, pure_module, pure_seeded, pure_sort, pure_copy, pure_timed, pure_fixed_time, pure_thread,
    pure_local_state, pure_recursion, pure_raises, pure_nan, pure_matmul, pure_default, pure_unused_branch, closure,
    pure_cached, layer.pure_method, prints, prints_error, warns, logs, writes_input, alias, writes_and_returns, draws_numpy,
    draws_python, draws_global, draws_module, draws_closure, unseeded, system_entropy, of_time, of_month, of_duration,
    of_thread, of_thread_local, counts, counts_in_module, writes_log, writes_only, of_step, counter, default_list,
    own_attribute, environment, error_state, pure_arguments, of_settings, of_iterator, of_handle, layer.own_generator,
    layer.counts, layer.counts_class)
for step in range(4):
    STEP = step * 10
    SETTINGS.rate, SETTINGS.step, ARGS.seed = step + 1.0, step, step
    SETTINGS.names.append('b')
    for function in FUNCTIONS:
        call(function, np.array([0.5, 1.0, 1.5]) * (step + 1))
    call(pure_outputs, np.arange(3.0) - step, tf.float64, tf.int64)
    call(lambda x, k=step: x + k, np.arange(3.0))
    call(functools.partial(np.power, 2.0), np.arange(3.0) + step)
    tf.py_function(pure_ops, [np.arange(3.0) + step], tf.float64)
    tf.py_function(pure_text, [b'a' * step], tf.string)
    tf.py_function(draws_ops, [np.float64(step)], tf.float64)
