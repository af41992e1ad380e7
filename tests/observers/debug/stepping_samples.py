"""Functions to step through: what Python has of calls, loops, generators and exceptions."""
from __future__ import annotations

import contextlib
import functools


def add(a, b):
    c = a + b
    return c  # noqa: RET504  a line to stop at


def straight(n):
    a = add(n, 1)
    b = add(a,
            2)
    return a * b


def loop(n):
    total = 0
    for i in range(3):
        if i == 1:
            continue
        total += add(i, n)
    else:
        total += 1
    while total > 5:
        total -= 4
    return total


def fact(n):
    if n <= 1:
        return 1
    return n * fact(n - 1)


def recursive(n):
    return fact(3) + n


def numbers(n):
    for i in range(n):
        got = yield i
        if got:
            break
    return 7


def generator(n):
    total = 0
    for x in numbers(3):
        total += x
    g = numbers(5)
    next(g)
    with contextlib.suppress(StopIteration):
        g.send(1)
    return total + n


def delegating(n):
    def inner():
        r = yield from numbers(2)
        yield r
    return sum(inner()) + n


def raising(n):
    raise ValueError(n)


def caught(n):
    try:
        raising(n)
    except ValueError as error:
        n += len(error.args)
    finally:
        n += 1
    return n


def uncaught(n):
    x = n + 1
    try:
        raising(x)
    finally:
        x += 1


class Guard:
    def __init__(self, n):
        self.n = n

    def __enter__(self):
        return self.n

    def __exit__(self, *error):
        self.n = 0
        return True


def guarded(n):
    with Guard(n) as m:
        raising(m)
    with Guard(n) as m:
        n += m
    return n


def comprehended(n):
    squares = [add(i, n) for i in range(2)]
    lookup = {k: (lambda v: v + k)(k) for k in range(2)}
    return sum(squares) + lookup[1]


@functools.lru_cache
def cached(n):
    return n * 2


@contextlib.contextmanager
def managed(n):
    yield n
    n += 1


def library(n):
    with managed(n) as m:
        n = cached(int(m)) + sorted([3, 1], key=lambda v: -v)[0]
    return functools.reduce(add, [1, 2, n])


def last_line_calls(n):
    return add(n, add(n, 1))


SAMPLES = (straight, loop, recursive, generator, delegating, caught, uncaught, guarded, comprehended, library,
           last_line_calls)
