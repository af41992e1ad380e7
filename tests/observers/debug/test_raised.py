"""An exception at a stop as a record: the variables of frames that still run too, but not all that a module defines."""
from __future__ import annotations

import sys

import ml_dtypes
import numpy as np

from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.observers.debug.inspecting.backtrace import frame_records, raised_record


def test_frames_that_still_run_have_their_variables():
    x = np.array([1.0, np.inf])
    (here,) = frame_records([sys._getframe()], None)
    found = {one.name: one for one in here.variables}
    assert found['x'].tensor.stats.first_bad == (1,)
    np.testing.assert_array_equal(found['x'].tensor.to_numpy(), x)


def test_modules_and_class_bodies_have_none():
    program = 'secret = 5\ndef f(y):\n    big = [y] * 9\n    class A:\n        inside = 1\n        y / 0\nf(3)'
    try:
        exec(compile(program, 'program.py', 'exec'), {'np': np})
    except ZeroDivisionError as error:
        record = raised_record(error, None)
    places = ((7, '<module>'), (4, 'f'), (6, 'A'))
    assert record.frames[1:] == tuple(Frame('program.py', line, name) for line, name in places)
    assert (record.type, record.message) == ('ZeroDivisionError', 'division by zero')
    assert record.traceback.endswith('ZeroDivisionError: division by zero\n')
    found = {record.frames[one.frame].function: [variable.name for variable in one.variables] for one in record.locals}
    assert (found['<module>'], found['f'], found['A']) == ([], ['y', 'big'], [])


def test_arrays_of_every_kind():
    arrays = (np.zeros(0), np.array(7, '>i4'), np.array([1.5, np.nan], ml_dtypes.bfloat16), np.array(['a']), np.array([{}]),
              np.ma.masked_array([1.0, 2.0], [0, 1]), np.zeros(1000))

    def looked_at(array):
        (here,) = frame_records([sys._getframe()], None)
        return here.variables[0].tensor
    found = [looked_at(array) for array in arrays]
    assert [one.dtype for one in found] == ['float64', 'int32', 'bfloat16', 'string', 'object', 'float64', 'float64']
    assert [one.level for one in found] == ['full', 'full', 'stats', 'stats', 'stats', 'full', 'stats']
    assert found[1].to_numpy() == 7 and found[2].stats.first_bad == (1,)
