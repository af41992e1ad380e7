"""Displayed attrs of nodes: TensorFlow's names and defaults, and how they follow from inputs and outputs.

`Operation.shown_attrs` and the errors of `Graph.create_op` use it. For an op type that is not in the table
TensorFlow's registry is used; an op type in neither has the attr `T`, the dtype of its first input.
"""
from __future__ import annotations

import ast
import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.definitions.registry import TypedInput
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType, as_dtype
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape

if TYPE_CHECKING:
    from pyfuncdbg.hosts.numpy.graph.definitions.signatures import Argument

_ESCAPES = {ord('"'): r'\"', ord("'"): r'\'', ord('\\'): r'\\', ord('\n'): r'\n', ord('\r'): r'\r', ord('\t'): r'\t'}


@dataclass(frozen=True, slots=True)
class FunctionName:
    """Attr value that names a function of the graph's library."""

    name: str


# One op type a line, then its attrs: `T<0` is the type of input 0 (-1: of the last), `Tin<*1` the types of the inputs from
# 1 on, `N#1` the number of inputs less 1, `N#/2` half of it, `Tout>0` and `Tout>*` the types of outputs; `x=1` is a
# default, `?` an unknown shape, `@` the settings of one CPU; a bare name is given by the maker of the node.
_TABLE = r'''
Abort error_msg=b'' exit_without_error=False
AccumulateNV2 N#0 T<0 shape
AddN N#0 T<0
All keep_dims=False Tidx<1
Angle T<0 Tout>0
Any keep_dims=False Tidx<1
ApproximateEqual T<0 tolerance=1e-05
ArgMax T<0 Tidx<1 output_type>0
ArgMin T<0 Tidx<1 output_type>0
AsString T<0 precision=-1 scientific=False shortest=False width=-1 fill=b''
Assert T<*1 summarize=3
AssignAddVariableOp dtype<1
AssignSubVariableOp dtype<1
AssignVariableOp dtype<1 validate_shape=False
AvgPool ksize strides padding data_format=b'NHWC' T<0
AvgPoolGrad ksize strides padding data_format=b'NHWC' T<1
BatchMatMulV2 T<0 adj_x=False adj_y=False grad_x=False grad_y=False
BatchToSpaceND T<0 Tblock_shape<1 Tcrops<2
BiasAdd T<0 data_format=b'NHWC'
BiasAddGrad T<0 data_format=b'NHWC'
Bincount T<2
Bitcast T<0 type>0
BroadcastTo T<0 Tidx<1
Bucketize T<0 boundaries
Cast SrcT<0 DstT>0 Truncate=False
CheckNumerics T<0 message
CheckNumericsV2 T<0 message
Complex T<0 Tout>0
ComplexAbs T<0 Tout>0
ConcatV2 N#1 T<0 Tidx<-1
Const value dtype>0
Conv2D T<0 strides use_cudnn_on_gpu=True padding explicit_paddings=[] data_format=b'NHWC' dilations=[1,1,1,1]
Conv2DBackpropFilter T<0 strides use_cudnn_on_gpu=True padding explicit_paddings=[] data_format=b'NHWC' dilations=[1,1,1,1]
Conv2DBackpropInput T<1 strides use_cudnn_on_gpu=True padding explicit_paddings=[] data_format=b'NHWC' dilations=[1,1,1,1]
Cumprod exclusive=False reverse=False T<0 Tidx<1
Cumsum exclusive=False reverse=False T<0 Tidx<1
DebugNanCount T<0 device_name=b'' tensor_name=b'' debug_urls=[] gated_grpc=False
DecodeBase64
DecodeRaw out_type>0 little_endian=True
DepthToSpace T<0 block_size data_format=b'NHWC'
DynamicPartition num_partitions T<0
DynamicStitch N#/2 T<-1
EagerPyFunc token is_async=False Tin<* Tout>*
Einsum equation N#0 T<0
EmptyTensorList element_dtype shape_type<0
EncodeBase64 pad=False
EnsureShape shape T<0
Enter T<0 frame_name is_constant=False parallel_iterations=10
Equal T<0 incompatible_shape_error=True
EuclideanNorm keep_dims=False T<0 Tidx<1
ExpandDims T<0 Tdim<1
ExtractImagePatches ksizes strides rates T<0 padding
FFT Tcomplex<0
Fact
FakeQuantWithMinMaxArgs min=-6.0 max=6.0 num_bits=8 narrow_range=False
Fill T<1 index_type<0
GatherNd Tparams<0 Tindices<1 bad_indices_policy=b''
GatherV2 batch_dims=0 Tparams<0 Tindices<1 Taxis<2
HistogramFixedWidth T<0 dtype>0
IFFT Tcomplex<0
IRFFT Treal>0 Tcomplex<0
IdentityN T<*
If Tcond<0 Tin<*1 Tout>* then_branch else_branch output_shapes=[]
Imag T<0 Tout>0
InTopK k T<1
InTopKV2 T<1
LRN depth_radius=5 bias=1.0 alpha=1.0 beta=0.5 T<0
LeakyRelu alpha=0.2 T<0
LeakyReluGrad alpha=0.2 T<0
LinSpace T<0 Tidx<2
ListDiff T<0 out_idx>1
LogicalAnd
LogicalNot
LogicalOr
LoopCond
LowerBound T<0 out_type>0
MatMul transpose_a=False transpose_b=False T<0 grad_a=False grad_b=False
MatrixBandPart T<0 Tindex<1
MatrixDiagPartV3 T<0 align=b'RIGHT_LEFT'
MatrixDiagV3 T<0 align=b'RIGHT_LEFT'
MatrixInverse adjoint=False T<0
MatrixSolve adjoint=False T<0
MatrixTriangularSolve lower=True adjoint=False T<0
Max keep_dims=False T<0 Tidx<1
MaxPool T<0 ksize strides padding explicit_paddings=[] data_format=b'NHWC'
MaxPoolGrad ksize strides padding explicit_paddings=[] data_format=b'NHWC' T<0
Mean keep_dims=False T<0 Tidx<1
Merge T<0 N#0
Min keep_dims=False T<0 Tidx<1
MirrorPad T<0 Tpaddings<1 mode
MirrorPadGrad T<0 Tpaddings<1 mode
Multinomial seed=0 seed2=0 T<0 output_dtype>0
NoOp
NotEqual T<0 incompatible_shape_error=True
NthElement reverse=False T<0
OneHot axis=-1 T<2 TI<0
Pack N#0 T<0 axis=0
Pad T<0 Tpaddings<1
PadV2 T<0 Tpaddings<1
ParallelDynamicStitch N#/2 T<-1
PartitionedCall Tin<* Tout>* f config=b'' config_proto=@ executor_type=b''
Placeholder dtype>0 shape=?
PlaceholderWithDefault dtype<0 shape
PreventGradient T<0 message=b''
Print T<0 U<*1 message=b'' first_n=-1 summarize=3
PrintV2 output_stream=b'stderr' end=b'\n'
Prod keep_dims=False T<0 Tidx<1
PyFunc token Tin<* Tout>*
PyFuncStateless token Tin<* Tout>*
Qr full_matrices=False T<0
RFFT Treal<0 Tcomplex>0
RandomGamma seed=0 seed2=0 S<0 T<1
RandomPoisson seed=0 seed2=0 S<0 dtype<1
RandomShuffle seed=0 seed2=0 T<0
RandomStandardNormal seed=0 seed2=0 dtype>0 T<0
RandomUniform seed=0 seed2=0 dtype>0 T<0
RandomUniformInt seed=0 seed2=0 Tout<1 T<0
Range Tidx<0
ReadVariableOp dtype>0
Real T<0 Tout>0
ReduceJoin keep_dims=False separator=b''
RegexFullMatch
RegexReplace replace_global=True
Reshape T<0 Tshape<1
ResourceApplyAdam T<3 use_locking=False use_nesterov=False
ResourceApplyGradientDescent T<1 use_locking=False
ResourceApplyMomentum T<2 use_locking=False use_nesterov=False
ResourceGather batch_dims=0 validate_indices=True dtype>0 Tindices<1
ResourceScatterAdd dtype<2 Tindices<1
ResourceScatterUpdate dtype<2 Tindices<1
ReverseSequence seq_dim batch_dim=0 T<0 Tlen<1
ReverseV2 Tidx<1 T<0
Roll T<0 Tshift<1 Taxis<2
ScatterNd T<1 Tindices<0 bad_indices_policy=b''
SegmentSum T<0 Tindices<1
Select T<1
SelectV2 T<1
SelfAdjointEigV2 compute_v=True T<0
Shape T<0 out_type>0
Size T<0 out_type>0
Slice T<0 Index<1
SpaceToBatchND T<0 Tblock_shape<1 Tpaddings<2
SpaceToDepth T<0 block_size data_format=b'NHWC'
SparseSoftmaxCrossEntropyWithLogits T<0 Tlabels<1
SparseTensorDenseMatMul T<1 Tindices<0 adjoint_a=False adjoint_b=False
SparseToDense validate_indices=True T<2 Tindices<0
Split num_split T<1
SplitV num_split T<0 Tlen<1
Squeeze T<0 squeeze_dims=[]
StatefulPartitionedCall Tin<* Tout>* f config=b'' config_proto=@ executor_type=b''
StatelessIf Tcond<0 Tin<*1 Tout>* then_branch else_branch output_shapes=[]
StatelessRandomNormal dtype>0 T<0 Tseed<1
StatelessRandomUniform dtype>0 T<0 Tseed<1
StatelessWhile T<* cond body output_shapes=[] parallel_iterations=10
StridedSlice T<0 Index<1 begin_mask=0 end_mask=0 ellipsis_mask=0 new_axis_mask=0 shrink_axis_mask=0
StridedSliceGrad T<4 Index<0 begin_mask=0 end_mask=0 ellipsis_mask=0 new_axis_mask=0 shrink_axis_mask=0
StringFormat T<* template=b'%s' placeholder=b'%s' summarize=3
StringJoin N#0 separator=b''
StringLength unit=b'BYTE'
StringLower encoding=b''
StringSplitV2 maxsplit=-1
StringStrip
StringToHashBucketFast num_buckets
StringToNumber out_type>0
StringUpper encoding=b''
Substr T<1 unit=b'BYTE'
Sum keep_dims=False T<0 Tidx<1
Svd compute_uv=True full_matrices=False T<0
TensorListFromTensor element_dtype<0 shape_type<1
TensorListGetItem element_dtype>0 Tshape<2
TensorListPopBack element_dtype>1
TensorListPushBack element_dtype<1
TensorListReserve element_dtype shape_type<0
TensorListSetItem element_dtype<2 resize_if_index_out_of_bounds=False
TensorListStack element_dtype>0 num_elements=-1
TensorScatterAdd T<0 Tindices<1 bad_indices_policy=b''
TensorScatterMax T<0 Tindices<1 bad_indices_policy=b''
TensorScatterMin T<0 Tindices<1 bad_indices_policy=b''
TensorScatterSub T<0 Tindices<1 bad_indices_policy=b''
TensorScatterUpdate T<0 Tindices<1 bad_indices_policy=b''
Tile T<0 Tmultiples<1
Timestamp
TopKV2 sorted=True T<0 Tk<1 index_type>1
Transpose T<0 Tperm<1
TruncatedNormal seed=0 seed2=0 dtype>0 T<0
Unique T<0 out_idx>1
UniqueWithCounts T<0 out_idx>1
Unpack num T<0 axis=0
UnravelIndex Tidx<0
UnsortedSegmentSum T<0 Tindices<1 Tnumsegments<2
UpperBound T<0 out_type>0
VarHandleOp container=b'' shared_name=b'' debug_name=b'' dtype shape allowed_devices=[]
VarIsInitializedOp
While T<* cond body output_shapes=[] parallel_iterations=10
'''


@functools.cache
def _rules() -> dict[str, list[tuple[str, str, str]]]:
    """By op type: (attr, its source, detail)."""
    rules = {}
    for line in _TABLE.strip().split('\n'):
        op, *attrs = line.split()
        rules[op] = [_rule(attr) for attr in attrs]
    return rules


@functools.cache
def _registry_rules(op: str) -> list[tuple[str, str, str]] | None:
    """The rules of an op that is not in the table, from its signature in TensorFlow's registry."""
    from pyfuncdbg.hosts.numpy.graph.definitions.signatures import signature  # takes 1 ms, and few programs need it
    sig = signature(op)
    if sig is None:
        return None
    rules = []
    for name, kind in sig.attrs.items():
        of_inputs = _places(name, sig.inputs)
        of_outputs = _places(name, sig.outputs)
        if name in {argument.number for argument in sig.inputs} and len(sig.inputs) == 1:
            rules.append((name, '#', '0'))
        elif kind in ('type', 'list(type)') and (of_inputs or of_outputs):
            rules.append((name, '<' if of_inputs else '>', ('' if kind == 'type' else '*') + (of_inputs or of_outputs)[0]))
        elif name in sig.defaults:
            rules.append((name, '=', repr(sig.defaults[name])))
        else:
            rules.append((name, '', ''))
    return rules


def _places(attr: str, arguments: Sequence[Argument]) -> list[str]:
    """Indices of arguments of this type attr; unknown after a list of tensors."""
    count = next((i for i, argument in enumerate(arguments) if argument.number), len(arguments) - 1)
    return [str(i) for i, argument in enumerate(arguments[:count + 1]) if argument.type == attr]


def _rule(text: str) -> tuple[str, str, str]:
    at = next((i for i, c in enumerate(text) if c in '<>#='), len(text))
    return text[:at], text[at:at + 1], text[at + 1:]


def displayed_attrs(op: str, inputs: Sequence[TypedInput], outputs: Sequence[TypedInput],
                    node_attrs: Mapping[str, Any]) -> dict[str, Any]:
    """The attrs of a node as TensorFlow's NodeDef has them.

    Args:
        op: The op type.
        inputs: Its input tensors.
        outputs: Its output tensors; empty while unknown.
        node_attrs: Its attrs; those that begin with '_py' are private.
    """
    data_attrs = {name: value for name, value in node_attrs.items() if not name.startswith('_py')}
    rules = _rules().get(op) or _registry_rules(op)
    if rules is None:
        return {'T': inputs[0].dtype, **data_attrs} if inputs and 'dtype' not in data_attrs else data_attrs
    attrs = {name: value for name, value in data_attrs.items() if name.startswith('_')}
    for name, source, detail in rules:
        value = data_attrs[name] if name in data_attrs else _derive_attr(source, detail, inputs, outputs)
        if value is not None:
            attrs[name] = value
    return attrs


def _derive_attr(source: str, detail: str, inputs: Sequence[TypedInput], outputs: Sequence[TypedInput]) -> Any:
    if source == '#':
        return len(inputs) // int(detail[1:]) if detail.startswith('/') else len(inputs) - int(detail)
    if source == '=':
        return _default(detail)
    tensors = inputs if source == '<' else outputs
    if not source or (source == '>' and not tensors):
        return None
    if detail.startswith('*'):
        return [t.dtype for t in tensors[int(detail[1:] or 0):]]
    index = int(detail)
    return tensors[index].dtype if -len(tensors) <= index < len(tensors) else None


_ONE_CPU = b'\n\x07\n\x03CPU\x10\x01\n\x07\n\x03GPU\x10\x002\x02J\x008\x01\x82\x01\x00\x92\x01\x02J\x00'
"""The ConfigProto that TensorFlow writes into calls of functions on a machine that has one CPU and no GPU."""


@functools.cache
def _default(text: str) -> Any:
    if text == '?':
        return TensorShape(None)
    if text == '@':
        return _ONE_CPU
    try:
        return ast.literal_eval(text)
    except ValueError:
        return as_dtype(text)


def summary(attrs: Mapping[str, Any]) -> str:
    """Attrs in one line, as in TensorFlow's messages: 'T=DT_FLOAT, transpose_a=false'."""
    return ', '.join(f'{name}={_short(attrs[name])}' for name in sorted(attrs))


def _short(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return '[' + ', '.join(_short(item) for item in value) + ']'
    if isinstance(value, DType):
        return value.proto_name
    if isinstance(value, TensorShape):
        return short_shape(value)
    if isinstance(value, bool):
        return boolean(value)
    if isinstance(value, float):
        return float32(value)
    if isinstance(value, (str, bytes)):
        return quote(value)
    if isinstance(value, FunctionName):
        return value.name
    if hasattr(value, 'shape') and hasattr(value, 'dtype'):
        return f'Tensor<type: {value.dtype} shape: {list(value.shape)}>'
    return str(value)


def short_shape(shape: TensorShape) -> str:
    """'[2,?]', '<unknown>': a shape in TensorFlow's messages."""
    if shape.sizes is None:
        return '<unknown>'
    return '[' + ','.join('?' if size is None else str(size) for size in shape.sizes) + ']'


_BYTE = [_ESCAPES.get(b, chr(b) if 32 <= b < 127 else f'\\{b:03o}') for b in range(256)]


def quote(value: bytes | str) -> str:
    """A string in double quotes; other than printable ASCII as octal."""
    data = value.encode() if isinstance(value, str) else value
    return '"' + ''.join([_BYTE[b] for b in data]) + '"'


def boolean(value: Any) -> str:
    """'true' or 'false'."""
    return 'true' if value else 'false'


def float32(value: Any) -> str:
    """Six digits if they read back as the same float32, else nine."""
    value = float(np.float32(value))
    if math.isnan(value):
        return 'nan'
    short = f'{value:.6g}'
    with np.errstate(over='ignore'):
        return short if np.float32(short) == np.float32(value) else f'{value:.9g}'
