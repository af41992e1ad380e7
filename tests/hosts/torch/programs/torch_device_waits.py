"""Elements that a loop reads, of tensors on a slow device and on the CPU."""
import time

import far_device
import torch
from far_device import Far


class Copies(list):
    def append(self, count):
        time.sleep(.002)                            # the device has other work to end first


far_device.copied = Copies()
for tensor in Far(torch.tensor([1.0, 2.0])), torch.tensor([1.0, 2.0]):
    for step in range(12):
        total = tensor.sum()
        total.item()
        tensor.tolist()
        if total:
            pass
        float(total)
        tensor.cpu()
        tensor.to('cpu')
        tensor.to(torch.float64)                    # stays where it is
        total + total
        if step > 3:
            int(total)                              # eight times
