"""Special functions: gamma, zeta and Bessel functions, inverse error function, softsign."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.definitions.registry import Node, OpDef, register
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.ops.arrays.reduction import reduce_sum
from pyfuncdbg.hosts.numpy.ops.definition.broadcast import unbroadcast
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor, convert_together
from pyfuncdbg.hosts.numpy.ops.definition.node_scope import scope
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import FLOAT, broadcast_rule, check_types
from pyfuncdbg.hosts.numpy.ops.elementwise.unary import Unary, exp, fused, log1p, reciprocal, scalar, square, unary
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply


def _scalar_kernel(function: Callable[..., float]) -> Callable[..., Any]:
    """A kernel that computes in float64, element by element."""
    def safe(*numbers: float) -> float:
        try:
            return function(*numbers)
        except OverflowError:
            return math.inf

    def kernel(*values: Any) -> Any:
        wide = [np.asarray(value, np.float64) for value in values]
        compute = np.frompyfunc(safe, len(values), 1)
        return scalar(np.asarray(compute(*wide)).astype(values[0].dtype))
    return kernel


# ---------------------------------------------------------------- the gamma function
def _lgamma(x: float) -> float:
    if math.isnan(x):
        return x
    if math.isinf(x) or (x <= 0 and x == math.floor(x)):
        return math.inf
    return math.lgamma(x)


def _digamma(x: float) -> float:
    """By recurrence to large arguments and their asymptotic series; by reflection for negative ones."""
    if math.isnan(x) or x == math.inf:
        return x
    if x <= 0:
        return math.nan if math.isinf(x) or x == math.floor(x) else _digamma(1 - x) - math.pi / math.tan(math.pi * x)
    total = 0.0
    while x < 10:
        total -= 1 / x
        x += 1
    s = 1 / (x * x)
    series = s * (1 / 12 - s * (1 / 120 - s * (1 / 252 - s * (1 / 240 - s * (1 / 132 - s * 691 / 32760)))))
    return total + math.log(x) - 0.5 / x - series


def _zeta(x: float, q: float) -> float:
    """Hurwitz's zeta function, by Euler's and Maclaurin's formula."""
    if math.isnan(x) or math.isnan(q) or x < 1:
        return math.nan
    if x == 1 or (q <= 0 and (math.isinf(q) or q == math.floor(q))):
        return math.nan if q == -math.inf and x != 1 else math.inf
    if math.isinf(x) or math.isinf(q):
        return (1.0 if q == 1 else 0.0 if q > 1 else math.inf) if math.isinf(x) else 0.0
    if q <= 0 and x != math.floor(x):
        return math.nan
    total = sum(float((q + k) ** -x) for k in range(12))
    n = q + 12
    total += n ** (1 - x) / (x - 1) + 0.5 * n ** -x
    factor, power = x, n ** (-x - 1)
    for k, bernoulli in enumerate((1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510), 1):
        term = bernoulli / math.factorial(2 * k) * factor * power
        total += term
        factor *= (x + 2 * k - 1) * (x + 2 * k)
        power /= n * n
    return total


def _polygamma(a: float, x: float) -> float:
    if not 0 <= a < math.inf or a != math.floor(a):
        return math.nan
    return _digamma(x) if a == 0 else (-1) ** (int(a) + 1) * math.gamma(a + 1) * _zeta(a + 1, x)


lgamma: Unary = unary('lgamma', 'Lgamma', _scalar_kernel(_lgamma), lambda g, x, y: g * digamma(x), FLOAT)
digamma: Unary = unary('digamma', 'Digamma', _scalar_kernel(_digamma),
                       lambda g, x, y: g * polygamma(constant(1, x.dtype), x), FLOAT)


def _zeta_gradient(node: Node, grad: Tensor) -> list[Tensor | None]:
    x, q = node.inputs
    return [None, unbroadcast(x, q, None, grad * -x * zeta(x + 1, q))[1]]


def _polygamma_gradient(node: Node, grad: Tensor) -> list[Tensor | None]:
    a, x = node.inputs
    return [None, unbroadcast(a, x, None, grad * polygamma(a + 1, x))[1]]


register(OpDef('Zeta', _scalar_kernel(_zeta), broadcast_rule('Zeta', FLOAT, ('x', 'q')), _zeta_gradient))
register(OpDef('Polygamma', _scalar_kernel(_polygamma), broadcast_rule('Polygamma', FLOAT, ('a', 'x')), _polygamma_gradient))


def _binary(op: str, names: tuple[str, str], values: tuple[Any, Any], name: str | None) -> Tensor:
    inputs = convert_together(list(values), names, op)
    check_types(op, inputs)
    return apply(op, inputs, None, name)


def zeta(x: Any, q: Any, name: str | None = None) -> Tensor:
    """Hurwitz's zeta function: the sum of `(q + k) ** -x` for k from 0 on."""
    return _binary('Zeta', ('x', 'q'), (x, q), name)


def polygamma(a: Any, x: Any, name: str | None = None) -> Tensor:
    """The derivative of order `a` of `digamma`."""
    return _binary('Polygamma', ('a', 'x'), (a, x), name)


def lbeta(x: Any, name: str | None = None) -> Tensor:
    """The logarithm of the absolute value of the beta function of the last axis."""
    with scope(name, 'lbeta'):
        x = convert_to_tensor(x)
        return reduce_sum(lgamma(x), [-1]) - lgamma(reduce_sum(x, [-1]))


# ---------------------------------------------------------------- the normal distribution
_A = (3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4,
      4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3)
_B = (1.0, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3, 2.1213794301586595867e+4,
      3.9307895800092710610e+4, 2.8729085735721942674e+4, 5.2264952788528545610e+3)
"""Coefficients of Wichura's algorithm AS 241 for the central region; Newton's steps refine the result."""


def _ndtri(p: float) -> float:
    if not 0 <= p <= 1:
        return math.nan
    if p in (0, 1):
        return math.copysign(math.inf, p - 0.5)
    q = p - 0.5
    if abs(q) <= 0.425:
        r = 0.180625 - q * q
        x = q * _polynomial(_A, r) / _polynomial(_B, r)
    else:
        r = math.sqrt(-2 * math.log(min(p, 1 - p)))
        x = math.copysign(r - (2.515517 + 0.802853 * r + 0.010328 * r * r) / (
            1 + 1.432788 * r + 0.189269 * r * r + 0.001308 * r**3), q)
    for _ in range(4):                  # erfc keeps its relative precision in the tails
        tail = 0.5 * math.erfc(abs(x) / math.sqrt(2))
        density = math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
        step = (min(p, 1 - p) - tail) / density * (-1 if x > 0 else 1) if density else 0.0
        x += step / (1 - step * x / 2)
    return x


def _polynomial(coefficients: tuple[float, ...], x: float) -> float:
    total = 0.0
    for c in reversed(coefficients):
        total = total * x + c
    return total


def _erfinv(y: float) -> float:
    return _ndtri((y + 1) / 2) / math.sqrt(2) if abs(y) > 1e-3 else _small_erfinv(y)


def _small_erfinv(y: float) -> float:
    x = y * math.sqrt(math.pi) / 2
    for _ in range(3):
        x -= (math.erf(x) - y) * math.sqrt(math.pi) / 2 * math.exp(x * x)
    return x


_ROOT_PI = math.sqrt(math.pi)
ndtri = unary('ndtri', 'Ndtri', _scalar_kernel(_ndtri),
              lambda g, x, y: g * math.sqrt(2 * math.pi) * exp(square(y) / 2), FLOAT)
erfinv = unary('erfinv', 'Erfinv', _scalar_kernel(_erfinv), lambda g, x, y: g * (_ROOT_PI / 2) * exp(square(y)), FLOAT)


def erfcinv(x: Any, name: str | None = None) -> Tensor:
    """The inverse of `erfc`."""
    with scope(name, 'erfcinv'):
        return -ndtri(0.5 * convert_to_tensor(x)) * math.sqrt(0.5)


# ---------------------------------------------------------------- Bessel functions
def _series(terms: int, start: int) -> Callable[[float], float]:
    """The modified Bessel function of order `start`, by its power series, or far out by the asymptotic one; scaled by
    exp(-|x|)."""
    def function(x: float) -> float:
        size = abs(x)
        if size < 25:
            term = total = (size / 2) ** start
            for k in range(1, terms):
                term *= size * size / 4 / (k * (k + start))
                total += term
            value = total * math.exp(-size)
        else:
            mu, term, total = 4.0 * start * start, 1.0, 1.0
            for k in range(1, 20):
                term *= -(mu - (2 * k - 1) ** 2) / (k * 8 * size)
                total += term
            value = total / math.sqrt(2 * math.pi * size)
        return -value if start % 2 and x < 0 else value
    return function


_i0e, _i1e = _series(90, 0), _series(90, 1)


def _unscaled(function: Callable[[float], float]) -> Callable[[float], float]:
    return lambda x: function(x) * (math.exp(abs(x)) if abs(x) < 709 else math.inf)


bessel_i0e: Unary = unary('bessel_i0e', 'BesselI0e', _scalar_kernel(_i0e),
                   lambda g, x, y: g * (bessel_i1e(x) - apply('Sign', (x,)) * y), FLOAT)
bessel_i1e: Unary = unary('bessel_i1e', 'BesselI1e', _scalar_kernel(_i1e), lambda g, x, y: g * (
    bessel_i0e(x) - y * (apply('Sign', (x,)) + reciprocal(x))), FLOAT)
bessel_i0: Unary = unary('bessel_i0', 'BesselI0', _scalar_kernel(_unscaled(_i0e)), lambda g, x, y: g * bessel_i1(x), FLOAT)
bessel_i1: Unary = unary('bessel_i1', 'BesselI1', _scalar_kernel(_unscaled(_i1e)),
                         lambda g, x, y: g * (bessel_i0(x) - y / x), FLOAT)

# ---------------------------------------------------------------- softsign, xlog1py, next float
softsign = unary('softsign', 'Softsign', lambda x: (x / (1 + np.abs(x))).astype(x.dtype),
                 lambda g, x, y: apply('SoftsignGrad', (g, x)), FLOAT, parameter='features')
fused('SoftsignGrad', lambda dy, x: (dy / (1 + np.abs(x)) ** 2).astype(x.dtype),
      lambda g, dy, x: [apply('SoftsignGrad', (g, x)),
                        g * dy * -2 * apply('Sign', (x,)) / (1 + apply('Abs', (x,))) ** 3], ('gradients', 'features'))


def _xlog1py_gradient(node: Node, grad: Tensor) -> list[Tensor | None]:
    x, y = node.inputs
    zero = apply('Equal', (x, apply('ZerosLike', (x,))))
    of_x = apply('SelectV2', (zero, apply('ZerosLike', (log1p(y) * grad,)), grad * log1p(y)))
    return unbroadcast(x, y, of_x, grad * apply('Xdivy', (x, y + 1)))


register(OpDef('Xlog1py', lambda x, y: np.where(x == 0, x.dtype.type(0), x * np.log1p(y)).astype(x.dtype)[()],
               broadcast_rule('Xlog1py', FLOAT), _xlog1py_gradient))
register(OpDef('NextAfter', np.nextafter, broadcast_rule('NextAfter', FLOAT, ('x1', 'x2')),
               lambda node, grad: unbroadcast(node.inputs[0], node.inputs[1], grad, apply('ZerosLike', (grad,)))))


def xlog1py(x: Any, y: Any, name: str | None = None) -> Tensor:
    """`x * log1p(y)`, 0 where `x` is 0."""
    return _binary('Xlog1py', ('x', 'y'), (x, y), name)


def nextafter(x1: Any, x2: Any, name: str | None = None) -> Tensor:
    """The next float after `x1` towards `x2`."""
    return _binary('NextAfter', ('x1', 'x2'), (x1, x2), name)
