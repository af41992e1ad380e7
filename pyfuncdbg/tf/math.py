"""`tf.math`."""
from pyfuncdbg.hosts.numpy.ops.arrays.reduction import (
    reduce_euclidean_norm as reduce_euclidean_norm,
    reduce_std as reduce_std,
    reduce_variance as reduce_variance,
)
from pyfuncdbg.hosts.numpy.ops.elementwise.binary import (
    divide_no_nan as divide_no_nan,
    floormod as _floormod,
    multiply_no_nan as multiply_no_nan,
    xdivy as xdivy,
    xlogy as xlogy,
)
from pyfuncdbg.hosts.numpy.ops.elementwise.unary import softplus as softplus
from pyfuncdbg.hosts.numpy.ops.nn.layers import (
    l2_normalize as l2_normalize,
    log_softmax as log_softmax,
    softmax as softmax,
    zero_fraction as zero_fraction,
)
from pyfuncdbg.hosts.numpy.ops.nn.normalization import (
    in_top_k as in_top_k,
    polyval as polyval,
    reciprocal_no_nan as reciprocal_no_nan,
    scalar_mul as scalar_mul,
)
from pyfuncdbg.hosts.numpy.ops.sums.counting import confusion_matrix as confusion_matrix
from pyfuncdbg.hosts.numpy.ops.sums.sorting import argmax as argmax, argmin as argmin, cumsum as cumsum, top_k as top_k
from pyfuncdbg.hosts.numpy.ops.sums.special import (
    bessel_i0 as bessel_i0,
    bessel_i0e as bessel_i0e,
    bessel_i1 as bessel_i1,
    bessel_i1e as bessel_i1e,
    erfcinv as erfcinv,
    erfinv as erfinv,
    ndtri as ndtri,
    nextafter as nextafter,
    softsign as softsign,
    xlog1py as xlog1py,
)
from pyfuncdbg.tf.math_names import *  # noqa: F403
from pyfuncdbg.tf.math_names1 import *  # noqa: F403
from pyfuncdbg.tf.public import publish as _publish

mod = _floormod

_publish(globals())
