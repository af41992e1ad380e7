"""Inputs for every op: values at which its gradient is checked and its shape rule compared with what the kernel gives."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import pyfuncdbg.tf  # noqa: F401  fills the registry
from pyfuncdbg.hosts.numpy.graph.definitions.registry import lookup
from pyfuncdbg.hosts.numpy.graph.types import dtypes

_random = np.random.default_rng(7)


def real(*shape: int, low: float = 0.2, high: float = 0.9) -> np.ndarray:
    """Float64 away from the points where ops have kinks."""
    return _random.uniform(low, high, shape)


def signed(*shape: int) -> np.ndarray:
    """Positive and negative float64, none near 0."""
    return real(*shape) * _random.choice([-1., 1.], shape)


def _steps(*shape: int) -> np.ndarray:
    """Float64 no two of which are near each other."""
    return _random.permutation(np.arange(1., np.prod(shape) + 1)).reshape(shape) / 10


def _words(*texts: str) -> np.ndarray:
    return np.array([text.encode() for text in texts], object)


def _pooled(op: str, x: np.ndarray, attrs: Mapping[str, Any]) -> tuple[Any, Any]:
    return x, lookup(op).kernel(x, **attrs)


def regular(batch: int, side: int) -> np.ndarray:
    """Float64 matrices that are positive definite and far from singular."""
    half = real(batch, side, side)
    return half @ np.swapaxes(half, 1, 2) + 2 * np.eye(side)


def ints(*values: Any) -> np.ndarray:
    return np.array(values if len(values) != 1 else values[0], np.int32)


@dataclass(frozen=True, slots=True)
class Example:
    """One call of an op.

    Attributes:
        inputs: NumPy values; those of dtype float64 are differentiated unless `fixed` names them.
        attrs: Of the op.
        fixed: Indices of float inputs that have no gradient.
        second: Whether the gradient's gradient is checked too.
        static: The gradient needs shapes that are known when the graph is made; without, NotImplementedError as in
            TensorFlow.
        symmetric: The gradient is that by a symmetric matrix.
    """

    inputs: Sequence[Any]
    attrs: Mapping[str, Any] = field(default_factory=dict)
    fixed: tuple[int, ...] = ()
    second: bool = True
    static: bool = False
    symmetric: bool = False


def each(*inputs: Any, **attrs: Any) -> Example:
    return Example(inputs, attrs)


_KEEP, _DROP = {'keep_dims': True}, {'keep_dims': False}
_MASKS = {'begin_mask': 0, 'end_mask': 0, 'ellipsis_mask': 0, 'new_axis_mask': 0, 'shrink_axis_mask': 0}
_CONV = {'strides': [1, 1, 1, 1], 'padding': 'SAME', 'explicit_paddings': [], 'data_format': 'NHWC',
         'dilations': [1, 1, 1, 1]}
_STRIDED = {**_CONV, 'strides': [1, 2, 1, 1], 'padding': 'EXPLICIT', 'explicit_paddings': [0, 0, 1, 0, 0, 2, 0, 0],
            'dilations': [1, 1, 2, 1]}
_FIRST = {**_CONV, 'data_format': 'NCHW', 'strides': [1, 1, 1, 2], 'padding': 'VALID'}
_CONV3 = {'strides': [1] * 5, 'padding': 'SAME', 'data_format': 'NDHWC', 'dilations': [1] * 5}
_POOL = {'ksize': [1, 2, 3, 1], 'strides': [1, 2, 1, 1], 'padding': 'SAME', 'explicit_paddings': [], 'data_format': 'NHWC'}
_POOL3 = {'ksize': [1, 2, 2, 2, 1], 'strides': [1, 2, 2, 2, 1], 'padding': 'SAME', 'data_format': 'NDHWC'}
_UNARY_ANYWHERE = ('Neg Square Exp Expm1 Sin Cos Sinh Cosh Tanh Atan Asinh Sigmoid Softplus Abs Relu Relu6 Elu Selu Erf '
                   'Erfc Sign '
                   'Reciprocal').split()
_UNARY_IN_UNIT = 'Sqrt Rsqrt Log Log1p Tan Asin Acos Atanh'.split()
_FUSED = 'TanhGrad SigmoidGrad SqrtGrad RsqrtGrad ReciprocalGrad SoftplusGrad ReluGrad Relu6Grad EluGrad SeluGrad'.split()
_BINARY = 'AddV2 Sub Mul RealDiv Maximum Minimum SquaredDifference Atan2 DivNoNan MulNoNan Xlogy Xdivy Pow FloorMod'.split()

WITHOUT_GRADIENT = frozenset({'PreventGradient'})
"""Ops whose gradient raises, as it is meant to."""

EXAMPLES: dict[str, list[Example]] = {
    **{op: [each(signed(2, 3)), each(np.float64(0.4))] for op in _UNARY_ANYWHERE},
    **{op: [each(real(2, 3)), each(np.float64(0.4))] for op in _UNARY_IN_UNIT},
    **{op: [each(real(2, 3), real(2, 3))] for op in _FUSED},
    **{op: [each(real(2, 3), real(2, 3)), each(real(3), real(2, 1)), each(real(1, 3), np.float64(0.3)),
            each(real(4, 1, 2), real(3, 1))]
       for op in _BINARY},
    **{op: [each(real(2, 3), ints([1]), **_DROP), each(real(2, 3), ints([0, 1]), **_KEEP),
            each(real(2, 3, 2), ints([0, -1]), **_DROP),
            each(real(3), ints([0]), **_DROP), each(real(2, 2), ints([]), **_DROP)]
       for op in ('Sum', 'Mean', 'Prod', 'Max', 'Min')},
    **{op: [each(real(2, 3) + 0.5)] for op in ('Lgamma', 'Digamma')},
    **{op: [each(real(2, 3))] for op in ('Ndtri', 'Erfinv', 'BesselI0', 'BesselI1', 'BesselI0e', 'BesselI1e')},
    'Softsign': [each(signed(2, 3))],
    'SoftsignGrad': [each(real(2, 3), signed(2, 3))],
    'Xlog1py': [each(real(2, 3), real(3))],
    'Zeta': [Example((real(2, 3) + 1.5, real(3)), fixed=(0,))],
    'Polygamma': [Example((np.array([1., 2., 3.]), real(2, 3) + 1), fixed=(0,))],
    'NextAfter': [each(real(2, 3), real(3))],
    'Acosh': [each(real(2, 3) + 1.5)],
    'LeakyRelu': [each(signed(2, 3), alpha=0.3)],
    'LeakyReluGrad': [each(signed(2, 3), signed(2, 3), alpha=0.3)],
    'AddN': [each(real(2), real(2), real(2))],
    'SelectV2': [each(np.array([True, False]), real(3, 2), real(2)), each(np.array([[True], [False]]), real(2),
                                                                          np.float64(0.5))],
    'Cast': [each(real(2, 3), SrcT=dtypes.float64, DstT=dtypes.float64)],
    'BroadcastTo': [each(real(2, 1), ints(3, 2, 2)), each(real(3), ints([3]))],
    'Reshape': [each(real(2, 3), ints(3, 2)), each(real(2, 3), ints(-1))],
    'ExpandDims': [each(real(2, 3), ints(1)), each(real(2), ints(-1))],
    'Squeeze': [each(real(2, 1, 3, 1), squeeze_dims=[]), each(real(2, 1, 3, 1), squeeze_dims=[-1])],
    'Transpose': [each(real(2, 3, 4), ints(2, 0, 1))],
    'Identity': [each(real(2))],
    'IdentityN': [each(real(2), real(3))],
    'EnsureShape': [],
    'ConcatV2': [each(real(2, 3), real(1, 3), ints(0)), each(real(2, 1), real(2, 2), real(2, 1), ints(-1))],
    'Pack': [each(real(2, 3), real(2, 3), axis=1, N=2), each(np.float64(1), np.float64(2), axis=0, N=2)],
    'Unpack': [each(real(2, 3), num=3, axis=1), each(real(2), num=2, axis=0)],
    'Split': [each(ints(1), real(2, 4), num_split=2)],
    'SplitV': [each(real(4, 2), ints(1, 3), ints(0), num_split=2), each(real(4), ints(1, -1), ints(0), num_split=2)],
    'Tile': [each(real(2, 3), ints(2, 1)), each(real(2), ints([3]))],
    'ReverseV2': [each(real(2, 3), ints([1]))],
    'Pad': [each(real(2, 3), ints([[1, 0], [0, 2]]))],
    'PadV2': [each(real(2), ints([[1, 2]]), np.float64(3))],
    'MirrorPad': [each(real(3, 4), ints([[1, 2], [0, 3]]), mode='REFLECT'), each(real(3), ints([[2, 3]]), mode='SYMMETRIC')],
    'MirrorPadGrad': [each(real(6, 7), ints([[1, 2], [0, 3]]), mode='REFLECT')],
    'StridedSlice': [each(real(4, 5), ints(1, 0), ints(4, 0), ints(2, 1), **{**_MASKS, 'shrink_axis_mask': 2}),
                     each(real(4, 5), ints(0, 0, 3), ints(0, 0, 0), ints(1, 1, -1),
                          **{**_MASKS, 'ellipsis_mask': 1, 'new_axis_mask': 2})],
    'StridedSliceGrad': [each(ints(4, 5), ints(1, 0), ints(4, 3), ints(2, 1), real(2, 3), **_MASKS)],
    'Slice': [each(real(4, 5), ints(1, 0), ints(2, -1))],
    'GatherV2': [each(real(4, 3), ints([1, 1, 3]), ints(0), batch_dims=0),
                 each(real(2, 4, 3), ints([[0, 2], [1, 1]]), ints(2), batch_dims=1),
                 each(real(2, 3), ints(1), ints(1), batch_dims=0)],
    'GatherV2Grad': [each(ints(4, 3), ints([1, 1, 3]), ints(0), real(3, 3), batch_dims=0),
                     each(ints(2, 4, 3), ints([[0, 2], [1, 1]]), ints(2), real(2, 4, 2), batch_dims=1)],
    **{f'UnsortedSegment{op}': [each(real(4, 3), ints([1, -1, 1, 0]), ints(2)),
                                each(real(2, 2), ints([[0, 1], [1, 0]]), ints(2))] for op in ('Prod', 'Max', 'Min')},
    'SparseToDense': [each(np.array([[0, 1], [1, 0]]), np.array([2, 3]), real(2), np.float64(0.5),
                           validate_indices=True)],
    'UnsortedSegmentSum': [each(real(4, 3), ints([1, -1, 1, 0]), ints(3)),
                           each(real(2, 2), ints([[0, 2], [2, 0]]), ints(3))],
    **{f'Segment{op}': [each(real(4, 3), ints([0, 0, 2, 2])), each(real(3), ints([1, 1, 1]))]
       for op in ('Sum', 'Mean', 'Prod', 'Max', 'Min')},
    'GatherNd': [each(real(2, 3), ints([[0, 1], [1, 2], [0, 1]]), batch_dims=0),
                 each(real(2, 3, 2), ints([[0], [2]]), batch_dims=1)],
    'ScatterNd': [each(ints([[1], [1], [0]]), real(3, 2), ints(4, 2), batch_dims=0)],
    'TensorScatterUpdate': [each(real(4), ints([[1], [3]]), real(2))],
    'TensorScatterAdd': [each(real(4), ints([[1], [1]]), real(2))],
    'TensorScatterSub': [each(real(4), ints([[1], [1]]), real(2))],
    'DynamicStitch': [each(ints(0, 2), ints([1]), real(2, 2), real(1, 2))],
    'Cumsum': [each(real(3, 2), ints(0), exclusive=e, reverse=r) for e in (False, True) for r in (False, True)],
    'Cumprod': [each(real(3, 2), ints(0), exclusive=e, reverse=r) for e in (False, True) for r in (False, True)],
    'TopKV2': [each(real(2, 5), ints(3), sorted=True)],
    'MatMul': [each(real(2, 3) if not a else real(3, 2), real(3, 4) if not b else real(4, 3), transpose_a=a, transpose_b=b)
               for a in (False, True) for b in (False, True)],
    'BatchMatMulV2': [each(real(2, 2, 3) if not a else real(2, 3, 2), real(1, 3, 4) if not b else real(1, 4, 3), adj_x=a,
                           adj_y=b)
                      for a in (False, True) for b in (False, True)],
    'Einsum': [each(real(2, 3), real(3, 4), equation='ij,jk->ki'), each(real(2, 3), equation='ij->'),
               each(real(3, 3), equation='ii->i'), each(real(3, 3, 2), real(3), equation='iij,i->j'),
               each(real(2, 1, 2, 3), real(4, 3, 2), equation='...ij,...jk->...ik'),
               each(real(3, 2, 4), equation='i...->...'),
               each(real(2, 3), real(4), equation='ij,k->i')],
    'MatrixDiagV3': [Example((real(2, 3), ints(1), ints(-1), ints(-1), np.float64(0)), {'align': 'RIGHT_LEFT'}, (4,)),
                     Example((real(3, 3), ints(-1, 1), ints(3), ints(4), np.float64(0)), {'align': 'LEFT_RIGHT'}, (4,))],
    'MatrixDiagPartV3': [Example((real(2, 3, 4), ints(0), np.float64(0)), {'align': 'RIGHT_LEFT'}, (2,)),
                         Example((real(3, 4), ints(-1, 2), np.float64(0)), {'align': 'LEFT_LEFT'}, (2,))],
    'MatrixSetDiagV3': [each(real(2, 3, 4), real(2, 3), ints(1), align='RIGHT_LEFT'),
                        each(real(3, 4), real(2, 3), ints(0, 1), align='RIGHT_LEFT')],
    'MatrixBandPart': [each(real(2, 3, 4), ints(1), ints(-1))],
    'MatrixInverse': [each(regular(2, 3), adjoint=a) for a in (False, True)],
    'MatrixDeterminant': [each(regular(2, 3)), each(regular(1, 2)[0])],
    'LogMatrixDeterminant': [each(regular(2, 3))],
    'MatrixSolve': [each(regular(2, 3), real(2, 3, 2), adjoint=a) for a in (False, True)],
    'MatrixTriangularSolve': [each(regular(2, 3), real(1, 3, 2), lower=a, adjoint=b) for a, b in
                              ((False, True), (True, True), (True, False))],
    'Qr': [Example((x,), {'full_matrices': False}, static=True) for x in (real(2, 4, 3), real(2, 3))],
    'Svd': [each(real(2, 3), compute_uv=False, full_matrices=False),
            *(Example((x,), {'compute_uv': True, 'full_matrices': False}, static=True)
              for x in (real(3, 2), real(2, 2, 2)))],
    'SelfAdjointEigV2': [each(regular(2, 3), compute_v=True), each(regular(1, 3), compute_v=False)],
    'Cholesky': [Example((regular(2, 3),), symmetric=True)],
    'Conv2D': [each(real(2, 4, 3, 2), real(2, 2, 2, 3), **_CONV), each(real(1, 5, 4, 4), real(2, 2, 2, 2), **_STRIDED),
               each(real(1, 2, 3, 4), real(2, 2, 2, 2), **_FIRST)],
    'Conv2DBackpropInput': [each(ints(2, 4, 3, 2), real(2, 2, 2, 3), real(2, 4, 3, 3), **_CONV)],
    'Conv2DBackpropFilter': [each(real(2, 4, 3, 2), ints(2, 2, 2, 3), real(2, 4, 3, 3), **_CONV)],
    'Conv3D': [each(real(1, 2, 3, 2, 2), real(2, 2, 2, 2, 1), **_CONV3)],
    'Conv3DBackpropInputV2': [each(ints(1, 2, 3, 2, 2), real(2, 2, 2, 2, 1), real(1, 2, 3, 2, 1), **_CONV3)],
    'Conv3DBackpropFilterV2': [each(real(1, 2, 3, 2, 2), ints(2, 2, 2, 2, 1), real(1, 2, 3, 2, 1), **_CONV3)],
    **{op: [each(_steps(2, 4, 4, 2), **_POOL), each(_steps(1, 3, 3, 1), **{**_POOL, 'padding': 'VALID'})]
       for op in ('MaxPool', 'AvgPool')},
    **{op: [each(_steps(1, 2, 3, 2, 1), **_POOL3)] for op in ('MaxPool3D', 'AvgPool3D')},
    **{op: [each(*_pooled('MaxPool', _steps(2, 4, 4, 2), _POOL), real(2, *sizes, 2), **_POOL)]
       for op, sizes in (('MaxPoolGrad', (2, 4)), ('MaxPoolGradGrad', (4, 4)))},
    **{op: [each(*_pooled('MaxPool3D', _steps(1, 2, 3, 2, 1), _POOL3), real(1, *sizes, 1), **_POOL3)]
       for op, sizes in (('MaxPool3DGrad', (1, 2, 1)), ('MaxPool3DGradGrad', (2, 3, 2)))},
    'AvgPoolGrad': [each(ints(2, 4, 4, 2), real(2, 2, 4, 2), **_POOL)],
    'AvgPool3DGrad': [each(ints(1, 2, 3, 2, 1), real(1, 1, 2, 1, 1), **_POOL3)],
    'Roll': [each(real(2, 3), ints(1), ints(1)), each(real(2, 3), ints(1, -2), ints(0, 1))],
    'DynamicPartition': [each(real(4, 2), ints(1, 0, 1, 1), num_partitions=2),
                         each(real(3), ints(0, 0, 0), num_partitions=2)],
    'ReverseSequence': [each(real(2, 3), ints(2, 3), seq_dim=1, batch_dim=0)],
    'SpaceToDepth': [each(real(1, 4, 2, 3), block_size=2, data_format='NHWC')],
    'DepthToSpace': [each(real(1, 2, 1, 8), block_size=2, data_format='NHWC')],
    'L2Loss': [each(real(2, 3))],
    'Softmax': [each(signed(2, 3))],
    'LogSoftmax': [each(signed(2, 3))],
    'SoftmaxCrossEntropyWithLogits': [each(signed(2, 3), np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]]))],
    'SparseSoftmaxCrossEntropyWithLogits': [each(signed(2, 3), ints(2, 0))],
    'BiasAdd': [each(real(2, 3), real(3), data_format='NHWC'), each(real(2, 3, 2), real(3), data_format='NCHW')],
    'BiasAddGrad': [each(real(2, 3), data_format='NHWC'), each(real(2, 3, 2), data_format='NCHW')],
    'CheckNumerics': [each(real(2), message='m')],
    'Print': [],
    'Fill': [each(ints(2, 3), np.float64(0.5))],
    'LinSpace': [each(np.float64(0.5), np.float64(2.), ints(4))],
    'Complex': [], 'Real': [], 'Imag': [], 'Angle': [], 'ComplexAbs': [], 'Conj': [],      # compared with TensorFlow instead
    # ---------------------------------------------------------------- without a gradient
    **{op: [each(signed(2, 3)), each(np.float64(1.5))] for op in
       'Floor Ceil Rint Round IsNan IsInf IsFinite ZerosLike OnesLike StopGradient PreventGradient Where Rank'.split()},
    **{op: [each(real(2, 3), real(3))] for op in 'Less LessEqual Greater GreaterEqual Equal NotEqual FloorDiv TruncateDiv '
                                                 'TruncateMod'.split()},
    **{op: [each(ints(5, 3), ints([[1], [2]]))] for op in 'BitwiseAnd BitwiseOr BitwiseXor LeftShift RightShift'.split()},
    **{op: [each(np.array([True, False]), np.array([[True], [False]]))] for op in ('LogicalAnd', 'LogicalOr')},
    **{op: [each(np.array([[True, False]]), ints([1]), **_DROP)] for op in ('All', 'Any')},
    'LogicalNot': [each(np.array([True, False]))],
    'Invert': [each(ints(1, 2))],
    'Shape': [each(real(2, 3), out_type=dtypes.int64)],
    'Size': [each(real(2, 3), out_type=dtypes.int32)],
    'BroadcastArgs': [each(ints(2, 1), ints([3]))],
    'BroadcastGradientArgs': [each(ints(2, 1, 3), ints(4, 1))],
    'InvertPermutation': [each(ints(2, 0, 1))],
    'Range': [each(ints(1), ints(9), ints(3)), each(ints(5), ints(0), ints(-2))],
    'OneHot': [each(ints(0, 2), ints(3), np.float64(1), np.float64(0), axis=-1),
               each(ints([[0, 2]]), ints(3), np.float64(1), np.float64(0), axis=1)],
    'ArgMax': [each(real(2, 3), ints(1), output_type=dtypes.int64)],
    'ArgMin': [each(real(2, 3), ints(-2), output_type=dtypes.int32)],
    'Unique': [each(ints(3, 1, 3), out_idx=dtypes.int32)],
    'UniqueWithCounts': [each(ints(3, 1, 3), out_idx=dtypes.int64)],
    'ListDiff': [each(ints(1, 2, 3), ints(2, 5))],
    'StatelessRandomGetKeyCounter': [each(ints(1, 2))],
    **{f'Stateless{op}V2': [each(ints(2, 3), np.array([5], np.uint64), np.array([1, 2], np.uint64), ints(1),
                                 dtype=dtypes.float32)] for op in ('RandomUniform', 'RandomNormal', 'TruncatedNormal')},
    'StatelessRandomUniformFullIntV2': [each(ints(2, 3), np.array([5], np.uint64), np.array([1, 2], np.uint64), ints(1),
                                             dtype=dtypes.int64)],
    'StatelessRandomUniformIntV2': [each(ints(2, 3), np.array([5], np.uint64), np.array([1, 2], np.uint64), ints(1),
                                         ints(-3), ints(9))],
    'StatelessMultinomial': [each(real(2, 3), ints(4), ints(1, 2), output_dtype=dtypes.int64)],
    'DenseBincount': [each(ints(1, 2, 1), ints(4), real(3)), each(ints([[1, 2], [0, 0]]), ints(3), real(0))],
    'LowerBound': [each(np.sort(real(1, 3)), real(1, 4), out_type=dtypes.int32)],
    'UpperBound': [each(np.sort(real(1, 3)), real(1, 4), out_type=dtypes.int64)],
    'HistogramFixedWidth': [each(real(5), np.array([0., 1.]), ints(4), dtype=dtypes.int32)],
    'Bitcast': [each(real(2), type=dtypes.int64), each(real(2), type=dtypes.int16), each(ints([[1, 2]]), type=dtypes.int64)],
    'UnravelIndex': [each(ints(3, 5), ints(2, 3))],
    'GuaranteeConst': [each(real(2))],
    'StaticRegexReplace': [each(_words('abc', 'xbbx'), pattern='b+', rewrite=r'<\0>', replace_global=True)],
    'RegexReplace': [each(_words('abc', 'xbbx'), np.array(b'b', object), np.array(b'-', object), replace_global=False)],
    'StaticRegexFullMatch': [each(_words('abc', 'ab'), pattern='a.c')],
    'RegexFullMatch': [each(_words('abc', 'ab'), np.array(b'a.', object))],
    'StringSplitV2': [each(_words('a b', 'c'), np.array(b'', object), maxsplit=-1)],
    'DecodeRaw': [each(_words('abcd', 'efgh'), out_type=dtypes.int16),
                  each(_words('abcd'), out_type=dtypes.int32, little_endian=False)],
    'DecodePaddedRaw': [each(_words('abcde', 'f'), np.int32(4), out_type=dtypes.uint8)],
    'StringSplit': [each(_words('a b', 'c'), np.array(b' ', object), skip_empty=True)],
    'UnsortedSegmentJoin': [each(_words('a', 'b'), ints(1, 0), ints(2), separator='-')],
    'TensorScatterMax': [each(real(4), ints([[1], [1]]), real(2))],
    'TensorScatterMin': [each(real(4), ints([[1], [1]]), real(2))],
}
