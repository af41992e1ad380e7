"""Names that only TensorFlow 1 had at top level. `tf` has them too, so that its programs run unchanged.
"""
from pyfuncdbg.hosts.numpy.graph.types.dimension import (
    Dimension as Dimension,
    disable_v2_tensorshape as disable_v2_tensorshape,
    enable_v2_tensorshape as enable_v2_tensorshape,
    value_of as _value_of,
)
from pyfuncdbg.hosts.numpy.graph.types.shapes import dimension_at_index as dimension_at_index
from pyfuncdbg.hosts.numpy.ops.arrays.rearranging import depth_to_space as depth_to_space, space_to_depth as space_to_depth
from pyfuncdbg.hosts.numpy.ops.checks.assertions import check_numerics as _check_numerics
from pyfuncdbg.hosts.numpy.ops.checks.printing import Print as Print
from pyfuncdbg.hosts.numpy.ops.definition.cast import (
    to_bfloat16 as to_bfloat16,
    to_complex64 as to_complex64,
    to_complex128 as to_complex128,
    to_double as to_double,
    to_float as to_float,
    to_int32 as to_int32,
    to_int64 as to_int64,
)
from pyfuncdbg.hosts.numpy.ops.elementwise.binary import div as div
from pyfuncdbg.hosts.numpy.ops.linalg.products import matrix_transpose as matrix_transpose
from pyfuncdbg.hosts.numpy.ops.ragged.string_split import string_split as string_split
from pyfuncdbg.hosts.numpy.ops.random.random import (
    get_seed as get_seed,
    multinomial as multinomial,
    random_normal as random_normal,
    random_uniform as random_uniform,
    set_seed as _set_seed,
    shuffle as _shuffle,
    truncated_normal as truncated_normal,
)
from pyfuncdbg.hosts.numpy.ops.strings.regex import regex_replace as regex_replace
from pyfuncdbg.hosts.numpy.ops.strings.strings import (
    reduce_join as reduce_join,
    string_to_number_v1 as _string_to_number_v1,
    strip as _strip,
    substr as substr,
)
from pyfuncdbg.hosts.numpy.ops.sums.counting import confusion_matrix_v1 as _confusion_matrix_v1
from pyfuncdbg.hosts.numpy.ops.training.clipping import (
    clip_by_average_norm as clip_by_average_norm,
    global_norm as global_norm,
)
from pyfuncdbg.tf.assertion_names1 import *  # noqa: F403
from pyfuncdbg.tf.math_names1 import *  # noqa: F403

dimension_value = _value_of
verify_tensor_all_finite = _check_numerics
set_random_seed = _set_seed
random_shuffle = _shuffle
string_to_number = _string_to_number_v1
string_strip = _strip
confusion_matrix = _confusion_matrix_v1
