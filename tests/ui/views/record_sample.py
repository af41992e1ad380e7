"""The sample trace of the views' demos: three runs of a normalisation; the second divides by zero, the third fails.

    python tests/ui/views/record_sample.py          write it anew, after a change of the format
"""
from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from written_trace import tensor, write_trace

from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.observers.record.records import (
    CallRecord,
    ErrorRecord,
    FrameRecord,
    LocalRecord,
    OutputRecord,
    RunRecord,
    SiteRecord,
)
from pyfuncdbg.ui.views.sample_trace import PATH

SOURCE = '''\
def normalize(x, eps=1e-6):
    mu = x.mean(-1, keepdims=True)
    sd = x.std(-1, keepdims=True)
    if sd.min() == 0:
        print('row', sd.argmin(), 'constant')
    return (x - mu) / sd
'''
NORM = SiteRecord(1, 1, 'norm', 'EagerPyFunc', 'python', 'tf', 'normalize', 'model.py', 39, SOURCE,
                  (Frame('model.py', 60, 'main'),), ('mm:0',), ('norm:0',))
SCALE = replace(NORM, id=2, name='scale', function='scale', line=50, source='def scale(y):\n    return 2 * y\n',
                inputs=('norm:0',), outputs=('scale:0',))
CONSTANT_ROW = np.array([[0.5, 1, 1.5, 2], [3, 3, 3, 3], [-1, 0, 0, 1]], np.float32)
SAID = (OutputRecord('out', 'row 1 constant\n', offset=8e-5),
        OutputRecord('fp', 'invalid value encountered in divide', 'invalid', 'model.py', 44, 'normalize', 1.1e-4))
FAILED = ErrorRecord(
    'AttributeError', "'NoneType' object has no attribute 'mean'",
    (Frame('/usr/lib/python3.11/site-packages/host/dispatch.py', 12, 'call'), Frame('model.py', 40, 'normalize')), '',
    (FrameRecord(1, (LocalRecord('x', 'NoneType', 'None'), LocalRecord('eps', 'float', '1e-06'))),))


def calls() -> Iterator[CallRecord]:
    fine = np.where(CONSTANT_ROW == 3, np.arange(4, dtype=np.float32), CONSTANT_ROW)
    for run, (x, said, error) in enumerate(((fine, (), None), (CONSTANT_ROW, SAID, None), (fine, (), FAILED)), 1):
        with np.errstate(all='ignore'):
            norm = tensor('norm:0', (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True))
        yield CallRecord(str(2 * run - 1), 1, run, NORM, run - 1, 8123, run * 0.01, 2.1e-4, (tensor('mm:0', x),),
                         () if error else (norm,), said, error)
        if not error:
            yield CallRecord(str(2 * run), 1, run, SCALE, run - 1, 8123, run * 0.01 + 1e-3, 4e-5, (norm,),
                             (tensor('scale:0', 2 * norm.to_numpy()),), (), None)


def runs() -> Iterator[RunRecord]:
    for id in (1, 2, 3):
        yield RunRecord(id, 1, 'Session.run', 'tf', id * 0.01, 2e-3, (), (), None, (1, 2))


def write(path: Path) -> None:
    write_trace(path, calls(), runs())


if __name__ == '__main__':
    shutil.rmtree(PATH, ignore_errors=True)
    write(Path(PATH))
