"""Datasets and loaders of all kinds, with their errors; prints what a program gets, and the random numbers after it."""
import random
import sys
import traceback

import numpy as np
import torch
from torch.utils.data import ConcatDataset, DataLoader, Dataset, IterableDataset, StackDataset, TensorDataset, random_split


class Pairs(Dataset):
    def __init__(self, n):
        self.cache = [{'x': torch.full((2,), float(i)), 'y': i} for i in range(n)]

    def __len__(self):
        return len(self.cache)

    def __getitem__(self, index):
        return self.cache[index], index * 2


class Many(Dataset):
    def __len__(self):
        return 4

    def __getitems__(self, indices):
        return [torch.tensor(i) for i in indices]

    def __getitem__(self, index):
        raise AssertionError


class Stream(IterableDataset):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        for i in range(self.n):
            if i == 5:
                raise ValueError(f'bad record {i}')
            yield torch.tensor(i), float(np.random.rand()) + random.random() + torch.rand(()).item()


class Countdown:
    def __init__(self):
        self.i = 3

    def __next__(self):
        if not self.i:
            raise StopIteration
        self.i -= 1
        return self.i


class Plain(IterableDataset):
    def __iter__(self):
        return Countdown()


def keep(samples):
    for sample, _ in samples:
        sample['seen'] = sample.get('seen', 0) + 1      # the sample is the dataset's own
    return torch.stack([s['x'] for s, _ in samples]), [n for _, n in samples]


def start(worker):
    random.seed(worker)


def show(title, loader):
    try:
        for batch in loader:
            print(title, batch)
    except ValueError:
        print(title, traceback.format_exc())


if __name__ == '__main__':
    torch.manual_seed(3)
    np.random.seed(1)
    random.seed(2)
    pairs = Pairs(5)
    show('pairs', DataLoader(pairs, batch_size=2, collate_fn=keep, shuffle=True))
    print([sample.get('seen') for sample in pairs.cache])
    show('many', DataLoader(Many(), batch_size=3))
    part, _ = random_split(pairs, [3, 2])
    show('split', DataLoader(part, batch_size=2, collate_fn=keep))
    show('concat', DataLoader(ConcatDataset([part, pairs]), batch_size=4, collate_fn=keep))
    show('stack', DataLoader(StackDataset(Many(), TensorDataset(torch.arange(4))), batch_size=4))
    show('stream', DataLoader(Stream(4), batch_size=2))
    show('stream', DataLoader(Stream(9), batch_size=2))
    show('plain', DataLoader(Plain(), batch_size=2))
    show('single', DataLoader(Pairs(2), batch_size=None))
    show('list', DataLoader([1, 2, 3], batch_size=2))
    for method in sys.argv[1:]:
        options = dict(num_workers=1, multiprocessing_context=method, worker_init_fn=start)
        show(method, DataLoader(pairs, batch_size=2, collate_fn=keep, persistent_workers=True, **options))
        show(method, DataLoader(Stream(9), batch_size=2, **options))
    print(torch.rand(2), np.random.rand(), random.random())
