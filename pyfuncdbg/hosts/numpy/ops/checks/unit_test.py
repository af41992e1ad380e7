"""`tf.test.TestCase`: unittest with TensorFlow's assertions on arrays and tensors. Tests run on the thread of the runner."""
from __future__ import annotations

import re
import shutil
import tempfile
import unittest
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from pyfuncdbg.errors import OpError
from pyfuncdbg.hooks.public_function import context_hiding_own_frames
from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.context import default_session, get_default_graph, reset_default_graph
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types.dtypes import as_dtype
from pyfuncdbg.hosts.numpy.graph.types.nest import flatten, map_structure, pack_sequence_as
from pyfuncdbg.hosts.numpy.ops.random.random import set_seed
from pyfuncdbg.hosts.numpy.runtime.sessions.session import Session

_SEED = 87654321


class _Arrays(unittest.TestCase):
    """The assertions."""

    longMessage = True

    def evaluate(self, tensors: Any) -> Any:
        """The values of tensors: as NumPy values, in the structure that they are in."""
        if context.current_graph() is None:
            return map_structure(lambda t: t.numpy() if hasattr(t, 'numpy') else t, tensors)
        session = default_session()
        flat = flatten(tensors)
        with nullcontext(session) if session is not None else Session() as active:
            return pack_sequence_as(tensors, active.run(flat))

    def _array(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return value
        symbolic = isinstance(value, Tensor) and not hasattr(value, '_value')
        return np.asarray(self.evaluate(value) if symbolic or hasattr(value, 'numpy') else value)

    def assertAllClose(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: Any = None) -> None:
        """Values, or structures of them, are near each other."""
        self._close(a, b, rtol, atol, msg)

    def _close(self, a: Any, b: Any, rtol: float, atol: float, msg: Any, path: str = '') -> None:
        if isinstance(a, Mapping):
            self.assertEqual(set(a), set(b), f'Mismatched keys{path and " at " + path}')
            for key in a:
                self._close(a[key], b[key], rtol, atol, msg, f'{path}[{key}]')
            return
        if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)) and not _is_array(a):
            self.assertEqual(len(a), len(b), f'Mismatched length{path and " at " + path}: expected {len(a)}, got {len(b)}.')
            for i, (x, y) in enumerate(zip(a, b, strict=True)):
                self._close(x, y, rtol, atol, msg, f'{path}[{i}]')
            return
        x, y = _wide(self._array(a)), _wide(self._array(b))
        self.assertEqual(x.shape, y.shape, f'Shape mismatch{path and " at " + path}: expected {x.shape}, got {y.shape}.')
        np.testing.assert_allclose(x, y, rtol=rtol, atol=atol, err_msg='' if msg is None else str(msg), equal_nan=True)

    def assertAllCloseAccordingToType(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6,
                                      float_rtol: float = 1e-6, float_atol: float = 1e-6, half_rtol: float = 1e-3,
                                      half_atol: float = 1e-3, bfloat16_rtol: float = 1e-2, bfloat16_atol: float = 1e-2,
                                      msg: Any = None) -> None:
        """Values are near each other, with a tolerance that depends on their dtypes."""
        a, b = self._array(a), self._array(b)
        bounds = {'float32': (float_rtol, float_atol), 'complex64': (float_rtol, float_atol),
                  'float16': (half_rtol, half_atol), 'bfloat16': (bfloat16_rtol, bfloat16_atol)}
        for array in (a, b):
            more = bounds.get(str(array.dtype), (0.0, 0.0))
            rtol, atol = max(rtol, more[0]), max(atol, more[1])
        self.assertAllClose(a, b, rtol, atol, msg)

    def assertNotAllClose(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: Any = None) -> None:
        """Values are not all near each other."""
        try:
            self.assertAllClose(a, b, rtol, atol)
        except AssertionError:
            return
        raise AssertionError(f'The two values are close at all elements. {msg or ""}'.rstrip())

    def assertAllEqual(self, a: Any, b: Any, msg: Any = None) -> None:
        """Values are equal, NaN to NaN too."""
        x, y = self._array(a), self._array(b)
        self.assertEqual(x.shape, y.shape, f'Shape mismatch: expected {x.shape}, got {y.shape}.')
        if 'O' in (x.dtype.kind, y.dtype.kind) or x.dtype.kind in 'SU':
            x, y = (np.frompyfunc(_as_bytes, 1, 1)(v) for v in (x, y))
        np.testing.assert_array_equal(x, y, err_msg='' if msg is None else str(msg))

    def assertNotAllEqual(self, a: Any, b: Any, msg: Any = None) -> None:
        """Values are not all equal."""
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        raise AssertionError(f'The two values are equal at all elements. {msg or ""}'.rstrip())

    def _compared(self, a: Any, target: Any, holds: Callable[[Any, Any], Any], text: str) -> None:
        array = self._array(a)
        if not np.all(holds(array, target)):
            raise AssertionError(f'not all elements are {text} {target!r}: {array!r}')

    def assertAllGreater(self, a: Any, comparison_target: Any) -> None:
        """Each element is greater."""
        self._compared(a, comparison_target, np.greater, '>')

    def assertAllLess(self, a: Any, comparison_target: Any) -> None:
        """Each element is less."""
        self._compared(a, comparison_target, np.less, '<')

    def assertAllGreaterEqual(self, a: Any, comparison_target: Any) -> None:
        """Each element is greater or equal."""
        self._compared(a, comparison_target, np.greater_equal, '>=')

    def assertAllLessEqual(self, a: Any, comparison_target: Any) -> None:
        """Each element is less or equal."""
        self._compared(a, comparison_target, np.less_equal, '<=')

    def assertAllInRange(self, target: Any, lower_bound: Any, upper_bound: Any, open_lower_bound: bool = False,
                         open_upper_bound: bool = False) -> None:
        """Each element is between the bounds."""
        array = self._array(target)
        low = array > lower_bound if open_lower_bound else array >= lower_bound
        high = array < upper_bound if open_upper_bound else array <= upper_bound
        if not np.all(low & high):
            raise AssertionError(f'not all elements are between {lower_bound} and {upper_bound}: {array!r}')

    def assertAllInSet(self, target: Any, expected_set: Any) -> None:
        """Each element is one of these."""
        strange = set(self._array(target).reshape(-1).tolist()) - set(expected_set)
        if strange:
            raise AssertionError(f'{len(strange)} unique element(s) are not in the set {expected_set!r}: {strange}')

    def assertNear(self, f1: float, f2: float, err: float, msg: Any = None) -> None:
        """Two numbers differ by `err` at most."""
        self.assertTrue(f1 == f2 or abs(f1 - f2) <= err, f'{f1!r} != {f2!r} +/- {err!r}{f" ({msg})" if msg else ""}')

    def assertArrayNear(self, farray1: Any, farray2: Any, err: float, msg: Any = None) -> None:
        """The numbers of two lists differ by `err` at most."""
        self.assertEqual(len(farray1), len(farray2), msg)
        for x, y in zip(farray1, farray2, strict=True):
            self.assertNear(float(x), float(y), err, msg)

    def assertNDArrayNear(self, ndarray1: Any, ndarray2: Any, err: float, msg: Any = None) -> None:
        """The Euclidean distance of two arrays is less than `err`."""
        self.assertLess(np.linalg.norm(self._array(ndarray1) - self._array(ndarray2)), err, msg)

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        """The values have this dtype."""
        self.assertEqual(as_dtype(self._array(target).dtype), as_dtype(expected_dtype))

    def assertShapeEqual(self, input_a: Any, input_b: Any, msg: Any = None) -> None:
        """Two values have one static shape."""
        a, b = (list(x.shape) if isinstance(x, np.ndarray) else x.shape.as_list() for x in (input_a, input_b))
        self.assertEqual(a, b, msg)


def _is_array(value: Any) -> bool:
    """Whether a nested list is one array rather than a structure of arrays."""
    try:
        return np.asarray(value).dtype != object and not any(hasattr(item, 'shape') for item in flatten(list(value)))
    except ValueError:
        return False


def _wide(x: Any) -> Any:
    return x.astype(np.float32) if x.dtype.kind == 'V' or (x.dtype.kind == 'f' and x.dtype.itemsize < 4) else x


def _as_bytes(value: Any) -> Any:
    return value.encode() if isinstance(value, str) else value


class TestCase(_Arrays):
    """A test that begins with a fresh default graph and fixed seeds."""

    def __init__(self, methodName: str = 'runTest') -> None:
        super().__init__(methodName)
        self._folder: str | None = None
        self._cached: tuple[Any, Any] | None = None

    def setUp(self) -> None:
        super().setUp()
        np.random.seed(_SEED % 2**32)
        reset_default_graph()
        set_seed(_SEED)

    def tearDown(self) -> None:
        if self._cached is not None:
            self._cached[1].close()
            self._cached = None
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
        super().tearDown()

    def get_temp_dir(self) -> str:
        """A temporary folder, removed when the test ends."""
        if self._folder is None:
            self._folder = tempfile.mkdtemp()
        return self._folder

    @context_hiding_own_frames
    def session(self, graph: Graph | None = None, config: Any = None, use_gpu: bool = True,
                force_gpu: bool = False) -> Iterator[Any]:
        """A session, and its graph as default. In eager code it is None, and the block runs eagerly."""
        if context.current_graph() is None:
            yield None
            return
        with Session(graph=graph or get_default_graph(), config=config) as session, session.graph.as_default():
            yield session

    @context_hiding_own_frames
    def cached_session(self, graph: Graph | None = None, config: Any = None, use_gpu: bool = True,
                       force_gpu: bool = False) -> Iterator[Any]:
        """The session of this test, the same at each call.

        Raises:
            ValueError: Another graph than the first time.
        """
        if context.current_graph() is None:
            yield None
            return
        if self._cached is None:
            self._cached = graph, Session(graph=graph or get_default_graph(), config=config)
        elif self._cached[0] is not graph:
            raise ValueError('The graph used to get the cached session is different than the one that was used to create '
                             'the session. Maybe create a new session with self.session()')
        session = self._cached[1]
        with session.graph.as_default(), session.as_default():
            yield session

    def test_session(self, graph: Graph | None = None, config: Any = None, use_gpu: bool = True,
                     force_gpu: bool = False) -> AbstractContextManager[Any]:
        """`cached_session` without a graph, otherwise `session`: the old name of both."""
        if self.id().endswith('.test_session'):
            self.skipTest('Not a test.')
        return self.cached_session(None, config) if graph is None else self.session(graph, config)

    @context_hiding_own_frames
    def assertRaisesWithPredicateMatch(self, exception_type: Any, expected_err_re_or_predicate: Any) -> Iterator[Any]:
        """Assert that the block raises this exception, with a text that a pattern or function accepts."""
        expected = expected_err_re_or_predicate
        fits = expected if callable(expected) else lambda error: re.search(expected, _whole_text(error)) is not None
        try:
            yield
        except exception_type as error:
            if not fits(error):
                raise AssertionError(f'Exception of type {type(error)}: {error}') from error
            return
        self.fail(f'{getattr(exception_type, "__name__", exception_type)} not raised')

    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> AbstractContextManager[Any]:
        """Assert that the block raises one of `tf.errors`."""
        return self.assertRaisesWithPredicateMatch(OpError, expected_err_re_or_predicate)


def _whole_text(error: BaseException) -> str:
    """The text of an error, with its ops for an error of a graph."""
    text = error.message if isinstance(error, OpError) else str(error)
    op: Any = getattr(error, 'op', None)
    return text if op is None else f'{text}\nCaused by op: {op.name}'


def main(argv: Sequence[str] | None = None) -> None:
    """Run the tests of the program's module and leave."""
    unittest.main(module='__main__', argv=None if argv is None else list(argv))


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: Any = None) -> bool:
    """Whether ops can run on a GPU: never."""
    return False


def is_built_with_cuda() -> bool:
    """Whether this is built for CUDA: no."""
    return False


def gpu_device_name() -> str:
    """The name of a GPU: '', there is none."""
    return ''
