"""A program of many shapes of functions, for tests that put breakpoints on each of its lines. `CALLS` runs all of it."""
# The odd shapes are what is tested.
# ruff: noqa: E501, E701, E702, RET504, E731, C416, C417, UP033
import asyncio
import contextlib
import functools
import sys

NEVER, ALWAYS = False, True
K = 3
log = []


def plain(a, b=2, *rest, c=3, **more):
    """A docstring,
    of two lines."""
    # a comment
    total = a + b

    for item in rest:
        total += item
    return total + c + len(more)


def loops(n):
    found = []
    for i in range(n):
        if i == 1:
            continue
        for j in range(i):
            if j == 2:
                break
            found.append((i, j))
        else:
            found.append(i)
    else:
        found.append('done')
    while n > 0:
        n -= 1
        if n == 2: continue
        if n < 1: break
    while True:
        n += 1
        if n > 2:
            break
    return found, n


def one_liners(n):
    if n > 1: n += 1
    for i in range(3): n += i
    while n < 20: n += 5
    x = 1; y = 2; n += x + y
    if n: pass
    else: n = 0
    try: n = n // 0
    except ZeroDivisionError: n = -n
    finally: n = n * 2
    return n


def errors(kind):
    seen = []
    try:
        seen.append('try')
        if kind == 'value':
            raise ValueError('v')
        if kind == 'key':
            {}['missing']
    except ValueError as error:
        seen.append((type(sys.exc_info()[1]).__name__, str(error)))
        try:
            raise TypeError('inner') from error
        except TypeError:
            seen.append(type(sys.exc_info()[1]).__name__)
        seen.append(type(sys.exc_info()[1]).__name__)
    except KeyError:
        seen.append('key')
        raise
    else:
        seen.append('else')
    finally:
        seen.append(type(sys.exc_info()[1]).__name__)
        log.append(len(seen))
    seen.append(sys.exc_info()[0])
    return seen


def groups():
    try:
        raise ExceptionGroup('g', [ValueError(1), TypeError(2)])
    except* ValueError as few:
        kept = [str(e) for e in few.exceptions]
    except* TypeError:
        kept.append('type')
    return kept


def final(x):
    for i in range(3):
        try:
            if i == x:
                return i
        finally:
            log.append(('final', i))
    return None


def uncaught(x):
    y = x + 1
    z = [
        y,
        1 / (y - 2),
    ]
    return z


def closures(n):
    count = 0
    names = []

    def step(by=1):
        nonlocal count
        count += by
        names.append(
            count)
        return count

    def unused_n():
        return names

    step()
    step(n)
    return count, unused_n(), [f() for f in [lambda: count, lambda: n]]


def lambdas(xs):
    plus = lambda x, y=K: x + y
    nested = lambda x: (lambda z: x + z)
    made = sorted(xs,
                  key=lambda x:
                      -x)
    return plus(1), nested(2)(3), made, list(map(lambda x: x * K, xs))


def comprehensions(xs):
    a = [x * 2 for x in xs if x]
    b = {x: [y for y in range(x)]
         for x in xs}
    c = sum(
        x
        for x in xs
    )
    if (top := max(xs)) > 2:
        c += top
    return a, b, c


class Base:
    kind = 'base'

    def __init__(self, x):
        self.__x = x
        self.y = x

    def value(self):
        return self.__x


class Derived(Base):
    """Has a docstring."""

    def __init__(self, x):
        super().__init__(x)
        self.__x = x * 10

    def value(self):
        mine = self.__x
        return super().value() + mine

    @property
    def doubled(self):
        return self.value() * 2

    @staticmethod
    def still(v):
        return v

    @classmethod
    def made(cls, v):
        return cls(v)


def methods(x):
    d = Derived.made(x)
    return d.value(), d.doubled, d.still(x), sorted(vars(d))


def local_class(x):
    class Inner:
        """Inner."""
        shared = x
        double = shared * 2

        def get(self):
            __private = __class__.__name__
            return self.double, __private

    return Inner().get(), Inner.__doc__


def traced(function):
    @functools.wraps(function)
    def wrapper(*args):
        log.append(function.__name__)
        return function(*args)
    return wrapper


@traced
@functools.lru_cache(maxsize=None)
def decorated(n):
    return n if n < 2 else decorated(n - 1) + decorated(n - 2)


def generator(n):
    got = []
    for i in range(n):
        x = yield i
        got.append(x)
    try:
        yield from inner_generator(n)
    finally:
        got.append('closed')
        log.append(got)
    return got


def inner_generator(n):
    while n:
        n -= 1
        yield n


def drive(n):
    g = generator(n)
    out = [next(g)]
    try:
        while True:
            out.append(g.send(len(out)))
    except StopIteration as stop:
        out.append(stop.value)
    g = generator(n)
    next(g)
    g.close()
    return out


class Ticker:
    def __init__(self, n):
        self.n = n

    def __aiter__(self):
        return self

    async def __anext__(self):
        if self.n == 0:
            raise StopAsyncIteration
        self.n -= 1
        return self.n


@contextlib.asynccontextmanager
async def around(x):
    log.append('in')
    yield x
    log.append('out')


async def agen(n):
    for i in range(n):
        await asyncio.sleep(0)
        yield i


async def coroutine(n):
    got = []
    async for tick in Ticker(n):
        got.append(tick)
    else:
        got.append('else')
    async with around(n) as x:
        got.append(x)
    got += [v async for v in agen(n)]
    await asyncio.sleep(0)
    return got


def run_coroutine(n):
    return asyncio.run(coroutine(n))


def matched(x):
    match x:
        case 0:
            return 'zero'
        case [a, *rest] if a > 0:
            r = a + len(rest)
        case {'k': v}:
            r = v
        case _:
            r = None
    return r


def contexts(x):
    with contextlib.suppress(KeyError), contextlib.nullcontext(x) as y:
        z = y + 1
        {}['no']
    with (
        contextlib.nullcontext(1) as one,
        contextlib.nullcontext(2) as two,
    ):
        z += one + two
    return z


def declared(x):
    global K
    K = K + 0
    y: int
    z: int = x
    a, *b = [1, 2, 3]
    del a
    assert z == x, (
        'message')
    text = (f'{z}'
            f'{b}')
    y = 1 if x else 2
    return text, y, not (
        x and
        y)


def unset(flag):
    if flag:
        late = 1
    flag = not flag
    try:
        return late
    except UnboundLocalError as error:
        return str(error)


def recursive(n):
    if n == 0:
        return 1
    return n * recursive(n - 1)


def cells(n):
    def inner():
        return n
    n += 1
    return inner() + n


CALLS = [
    (plain, 1), (plain, 1, 2, 3, 4), (loops, 4), (loops, 0), (one_liners, 1), (one_liners, 5), (errors, ''), (errors, 'value'),
    (errors, 'key'), (groups,), (final, 1), (final, 9), (uncaught, 1), (uncaught, 2), (closures, 4), (lambdas, [3, 1, 2]),
    (comprehensions, [0, 1, 3]), (methods, 2), (local_class, 3), (decorated, 6), (drive, 2), (run_coroutine, 2), (matched, 0),
    (matched, [1, 2, 3]), (matched, {'k': 7}), (matched, 'other'), (contexts, 5), (declared, 1), (unset, True),
    (unset, False), (recursive, 4), (cells, 1),
]
