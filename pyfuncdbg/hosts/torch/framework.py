"""Declaration of PyTorch. Loads nothing of it."""
from __future__ import annotations

from pyfuncdbg.hosts.interception.framework import Framework, TensorCode

FRAMEWORK = Framework('torch', 'PyTorch', packages=('torch',), modules=('torch.',),
                      attachment='pyfuncdbg.hosts.torch.attachment.TorchAttachment',
                      doctor='pyfuncdbg.hosts.torch.doctor.doctor.DOCTOR', results='pyfuncdbg.hosts.torch.results',
                      tensor_code=TensorCode('import torch', 'torch.tensor'), fuses_ops=False,
                      called_kinds=('torch.nn.modules.module.Module',),
                      generated=('<_remote_module_', '_remote_module_non_', '<eval_with_key>'))
