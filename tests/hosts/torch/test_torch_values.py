"""Reading of tensors as arrays: which elements, and whose memory."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import pyfuncdbg
from pyfuncdbg.hooks.host import COPIERS, HOSTS, READERS

pytestmark = pytest.mark.torch

TENSORS: dict[str, Callable[[Any], Any]] = {
    'conjugate': lambda torch: torch.tensor([1 + 2j, 3 - 1j]).conj(),
    'negative': lambda torch: torch.tensor([1 + 2j, 3 - 1j]).conj().imag,
    'zeros without memory': lambda torch: torch._efficientzerotensor(2),
    'sparse': lambda torch: torch.tensor([0.0, 3.0]).to_sparse(),
    'quantized': lambda torch: torch.quantize_per_tensor(torch.tensor([1.0, 2.0]), 0.5, 0, torch.qint8),
    'a transposed view': lambda torch: torch.arange(6.0).reshape(2, 3).t()[1:],
    'with a gradient': lambda torch: torch.tensor([1.0, 2.0], requires_grad=True),
    'empty': lambda torch: torch.empty(0, 3),
    'scalar': lambda torch: torch.tensor(True),
    'small integers': lambda torch: torch.tensor([[-1], [2]], dtype=torch.int8),
    'half': lambda torch: torch.tensor([0.5], dtype=torch.float16),
    'expanded': lambda torch: torch.tensor(2.5).expand(2, 3),
    'of four dimensions': lambda torch: torch.arange(48).reshape(2, 3, 4, 2).permute(2, 0, 3, 1)[::2],
}
UNCOPIED = ('conjugate', 'negative', 'zeros without memory', 'sparse', 'quantized')


@pytest.fixture
def host(torch: Any) -> Iterator[Any]:
    with pyfuncdbg.attach('torch'):
        yield HOSTS['torch']


@pytest.mark.parametrize('name', TENSORS)
def test_elements_are_those_of_the_tensor(torch: Any, host: Any, name: str) -> None:
    tensor = TENSORS[name](torch)
    plain = tensor.detach().dequantize() if tensor.is_quantized else tensor.detach().clone()
    array = host.to_numpy(tensor)
    assert array.shape == tuple(tensor.shape)
    assert array.tolist() == (plain.to_dense() if tensor.is_sparse else plain).tolist()
    try:
        fast = READERS[type(tensor)](tensor)
    except Exception:                           # of one that the slower way reads: never other elements
        return
    assert fast.tolist() == array.tolist()


@pytest.mark.parametrize('name', TENSORS)
def test_a_copy_has_the_elements_of_the_tensor(torch: Any, host: Any, name: str) -> None:
    copy, tensor = COPIERS.get(torch.Tensor), TENSORS[name](torch)
    if copy is None:
        pytest.skip('before PyTorch 2.10, or not compiled')
    copied = copy(tensor, 1 << 20)
    if name in UNCOPIED:                        # left to the reader: never other elements
        assert copied is None
    elif isinstance(copied, np.generic):
        assert copied.item() == tensor.item()
    else:
        dtype, shape, data, is_changed = copied
        assert (np.frombuffer(data, dtype).reshape(shape).tolist(), is_changed) == (tensor.detach().tolist(), False)
        assert copy(tensor, len(data) - 1) == (dtype, shape, None, False)


def test_shapes_are_those_of_each_copy(torch: Any, host: Any) -> None:
    copy = COPIERS.get(torch.Tensor)
    if copy is None:
        pytest.skip('before PyTorch 2.10, or not compiled')
    shapes = [shape for n in range(200) for shape in ((n,), (n % 7, n), (n, n % 5, 1))]
    assert [copy(torch.empty(shape), 0)[1] for shape in shapes * 2] == shapes * 2


def test_a_type_that_numpy_lacks(torch: Any, host: Any) -> None:
    array = host.to_numpy(torch.tensor([1.5, -2.0], dtype=torch.bfloat16))
    assert array.dtype == ml_dtypes.bfloat16
    assert array.astype(np.float32).tolist() == [1.5, -2.0]


def test_an_array_outlives_the_memory_of_its_tensor(torch: Any, host: Any) -> None:
    tensor = torch.full((1000,), 7.0)
    array = host.to_numpy(tensor)
    tensor.untyped_storage().resize_(0)
    torch.full((1000,), 8.0)
    assert set(array.tolist()) == {7.0}
    shared = torch.zeros(2)
    own = shared.numpy()                        # of the program: it can resize no more
    own[0] = 5
    assert np.shares_memory(host.to_numpy(shared), own)
