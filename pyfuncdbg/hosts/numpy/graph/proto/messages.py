"""TensorFlow's messages (GraphDef, NodeDef, ServerDef, ...): classes of the protobuf library, made from the schema below.

They are in a separate descriptor pool, so that a program can import TensorFlow's too. Loaded at the first use of a
message. No state but the classes: any thread may use them.
"""
from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from pyfuncdbg.hosts.numpy.graph.proto import settings_schema

# One message a line: its name, then `number type name` of each field; `*` is repeated, `name|group` a member of a oneof.
_SCHEMA = '''
TensorShapeProto 2 *TensorShapeProto.Dim dim; 3 bool unknown_rank
TensorShapeProto.Dim 1 int64 size; 2 string name
TensorProto 1 DataType dtype; 2 TensorShapeProto tensor_shape; 3 int32 version_number; 4 bytes tensor_content; \
13 *int32 half_val; 5 *float float_val; 6 *double double_val; 7 *int32 int_val; 8 *bytes string_val; 9 *float scomplex_val; \
10 *int64 int64_val; 11 *bool bool_val; 12 *double dcomplex_val; 14 *ResourceHandleProto resource_handle_val; \
15 *VariantTensorDataProto variant_val; 16 *uint32 uint32_val; 17 *uint64 uint64_val; 18 bytes float8_val
ResourceHandleProto 1 string device; 2 string container; 3 string name; 4 uint64 hash_code; 5 string maybe_type_name; \
6 *ResourceHandleProto.DtypeAndShape dtypes_and_shapes
ResourceHandleProto.DtypeAndShape 1 DataType dtype; 2 TensorShapeProto shape
VariantTensorDataProto 1 string type_name; 2 bytes metadata; 3 *TensorProto tensors
AttrValue 2 bytes s|value; 3 int64 i|value; 4 float f|value; 5 bool b|value; 6 DataType type|value; \
7 TensorShapeProto shape|value; 8 TensorProto tensor|value; 1 AttrValue.ListValue list|value; 10 NameAttrList func|value; \
9 string placeholder|value
AttrValue.ListValue 2 *bytes s; 3 *int64 i; 4 *float f; 5 *bool b; 6 *DataType type; 7 *TensorShapeProto shape; \
8 *TensorProto tensor; 9 *NameAttrList func
NameAttrList 1 string name; 2 map<string,AttrValue> attr
NodeDef 1 string name; 2 string op; 3 *string input; 4 string device; 5 map<string,AttrValue> attr; \
6 NodeDef.ExperimentalDebugInfo experimental_debug_info; 7 FullTypeDef experimental_type
NodeDef.ExperimentalDebugInfo 1 *string original_node_names; 2 *string original_func_names
FullTypeDef 1 FullTypeId type_id; 2 *FullTypeDef args; 3 string s|attr; 4 int64 i|attr
VersionDef 1 int32 producer; 2 int32 min_consumer; 3 *int32 bad_consumers
OpDef 1 string name; 2 *OpDef.ArgDef input_arg; 3 *OpDef.ArgDef output_arg; 20 *string control_output; \
4 *OpDef.AttrDef attr; 8 OpDeprecation deprecation; 5 string summary; 6 string description; 18 bool is_commutative; \
16 bool is_aggregate; 17 bool is_stateful; 19 bool allows_uninitialized_input; 21 bool is_distributed_communication
OpDef.ArgDef 1 string name; 2 string description; 3 DataType type; 4 string type_attr; 5 string number_attr; \
6 string type_list_attr; 7 *ResourceHandleProto.DtypeAndShape handle_data; 16 bool is_ref; \
17 FullTypeDef experimental_full_type
OpDef.AttrDef 1 string name; 2 string type; 3 AttrValue default_value; 4 string description; 5 bool has_minimum; \
6 int64 minimum; 7 AttrValue allowed_values
OpDeprecation 1 int32 version; 2 string explanation
FunctionDef 1 OpDef signature; 5 map<string,AttrValue> attr; 7 map<uint32,FunctionDef.ArgAttrs> arg_attr; \
8 map<uint32,uint32> resource_arg_unique_id; 3 *NodeDef node_def; 4 map<string,string> ret; 6 map<string,string> control_ret
FunctionDef.ArgAttrs 1 map<string,AttrValue> attr
GradientDef 1 string function_name; 2 string gradient_func
RegisteredGradient 1 string gradient_func; 2 string registered_op_type
FunctionDefLibrary 1 *FunctionDef function; 2 *GradientDef gradient; 3 *RegisteredGradient registered_gradients
GraphDef 1 *NodeDef node; 4 VersionDef versions; 3 int32 version; 2 FunctionDefLibrary library
OpList 1 *OpDef op
CollectionDef 1 CollectionDef.NodeList node_list|kind; 2 CollectionDef.BytesList bytes_list|kind; \
3 CollectionDef.Int64List int64_list|kind; 4 CollectionDef.FloatList float_list|kind
CollectionDef.NodeList 1 *string value
CollectionDef.BytesList 1 *bytes value
CollectionDef.Int64List 1 *int64 value
CollectionDef.FloatList 1 *float value
MetaGraphDef 1 MetaGraphDef.MetaInfoDef meta_info_def; 2 GraphDef graph_def; 4 map<string,CollectionDef> collection_def
MetaGraphDef.MetaInfoDef 1 string meta_graph_version; 2 OpList stripped_op_list; 4 *string tags; \
5 string tensorflow_version; 6 string tensorflow_git_version; 7 bool stripped_default_attrs
JobDef 1 string name; 2 map<int32,string> tasks
ClusterDef 1 *JobDef job
ServerDef 1 ClusterDef cluster; 2 string job_name; 8 int32 replica; 3 int32 task_index; 5 string protocol; 6 int32 port
'''
# Members of an enum with their numbers; a bare name has the next number.
_ENUMS = {
    'DataType': 'DT_INVALID=0 DT_FLOAT DT_DOUBLE DT_INT32 DT_UINT8 DT_INT16 DT_INT8 DT_STRING DT_COMPLEX64 DT_INT64 DT_BOOL '
                'DT_QINT8 DT_QUINT8 DT_QINT32 DT_BFLOAT16 DT_QINT16 DT_QUINT16 DT_UINT16 DT_COMPLEX128 DT_HALF DT_RESOURCE '
                'DT_VARIANT DT_UINT32 DT_UINT64 DT_FLOAT8_E5M2 DT_FLOAT8_E4M3FN DT_FLOAT8_E4M3FNUZ DT_FLOAT8_E4M3B11FNUZ '
                'DT_FLOAT8_E5M2FNUZ DT_INT4 DT_UINT4 DT_INT2 DT_UINT2 DT_FLOAT4_E2M1FN',
    'FullTypeId': 'TFT_UNSET=0 TFT_VAR TFT_ANY TFT_PRODUCT TFT_NAMED TFT_FOR_EACH=20 TFT_CALLABLE=100 TFT_TENSOR=1000 '
                  'TFT_ARRAY TFT_OPTIONAL TFT_LITERAL TFT_ENCODED TFT_SHAPE_TENSOR TFT_BOOL=200 TFT_UINT8 TFT_UINT16 '
                  'TFT_UINT32 TFT_UINT64 TFT_INT8 TFT_INT16 TFT_INT32 TFT_INT64 TFT_HALF TFT_FLOAT TFT_DOUBLE '
                  'TFT_COMPLEX64 TFT_COMPLEX128 TFT_STRING TFT_BFLOAT16 TFT_DATASET=10102 TFT_RAGGED TFT_ITERATOR '
                  'TFT_MUTEX_LOCK=10202 TFT_LEGACY_VARIANT',
    **settings_schema.ENUMS,
}
_REFERENCE = 100
"""Offset from the number of a dtype to that of its reference type in TensorFlow 1."""
_SCALARS = ('bool', 'bytes', 'double', 'float', 'int32', 'int64', 'string', 'uint32', 'uint64')


def _members(text: str) -> dict[str, int]:
    numbers: dict[str, int] = {}
    number = -1
    for item in text.split():
        name, _, number_text = item.partition('=')
        number = int(number_text) if number_text else number + 1
        numbers[name] = number
    return numbers


def _file() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(name='pyfuncdbg/tensorflow.proto', package='tensorflow', syntax='proto3')
    messages: dict[str, Any] = {}
    for line in (_SCHEMA + settings_schema.SCHEMA).strip().replace('\n\n', '\n').split('\n'):
        name, _, rest = line.partition(' ')
        outer, _, inner = name.rpartition('.')
        message = messages[name] = messages[outer].nested_type.add(name=inner) if outer else file.message_type.add(name=name)
        for field in rest.split('; '):
            _add_field(message, name, *field.split())
    for enum_name, text in _ENUMS.items():
        outer, _, inner = enum_name.rpartition('.')
        enum = (messages[outer] if outer else file).enum_type.add(name=inner)
        members = _members(text)
        if enum_name == 'DataType':
            members.update({f'{name}_REF': number + _REFERENCE for name, number in members.items() if number})
        for member, number in members.items():
            enum.value.add(name=member, number=number)
    return file


def _add_field(message: Any, owner: str, number: str, kind: str, text: str) -> None:
    name, _, group = text.partition('|')
    field = message.field.add(name=name, number=int(number), label=3 if kind[0] == '*' or kind.startswith('map<') else 1)
    entry = re.fullmatch(r'map<(\w+),([\w.]+)>', kind)
    if entry is not None:
        pair = ''.join(part.capitalize() for part in name.split('_')) + 'Entry'
        nested = message.nested_type.add(name=pair)
        nested.options.map_entry = True
        for index, (key, part) in enumerate(zip(('key', 'value'), entry.groups(), strict=True), 1):
            _set_type(nested.field.add(name=key, number=index, label=1), part)
        _set_type(field, f'{owner}.{pair}')
        return
    _set_type(field, kind.removeprefix('*'))
    if group:
        if group not in (declared := [item.name for item in message.oneof_decl]):
            message.oneof_decl.add(name=group)
            declared.append(group)
        field.oneof_index = declared.index(group)


def _set_type(field: Any, kind: str) -> None:
    if kind in _SCALARS:
        field.type = getattr(descriptor_pb2.FieldDescriptorProto, f'TYPE_{kind.upper()}')
    else:
        field.type = 14 if kind in _ENUMS else 11           # TYPE_ENUM, TYPE_MESSAGE
        field.type_name = f'.tensorflow.{kind}'


_pool = descriptor_pool.DescriptorPool()
_pool.Add(_file())


def _message(name: str) -> Any:
    message_class = message_factory.GetMessageClass(_pool.FindMessageTypeByName(f'tensorflow.{name}'))
    message_class.__module__ = __name__                 # for pickle
    return message_class


AttrValue, NodeDef, GraphDef = map(_message, ('AttrValue', 'NodeDef', 'GraphDef'))
OpDef, FunctionDef = map(_message, ('OpDef', 'FunctionDef'))
TensorProto, TensorShapeProto, NameAttrList = map(_message, ('TensorProto', 'TensorShapeProto', 'NameAttrList'))
MetaGraphDef, CollectionDef, VersionDef = map(_message, ('MetaGraphDef', 'CollectionDef', 'VersionDef'))
ClusterDef, JobDef, ServerDef = map(_message, ('ClusterDef', 'JobDef', 'ServerDef'))
ConfigProto, RunOptions, RunMetadata = map(_message, ('ConfigProto', 'RunOptions', 'RunMetadata'))
GPUOptions, GraphOptions, OptimizerOptions = map(_message, ('GPUOptions', 'GraphOptions', 'OptimizerOptions'))


def shape_proto(sizes: Iterable[int | None] | None) -> Any:
    """The TensorShapeProto of static sizes, None for an unknown one; None for an unknown rank."""
    message = TensorShapeProto()
    if sizes is None:
        message.unknown_rank = True
    for size in sizes or ():
        message.dim.add(size=-1 if size is None else int(size))
    return message
