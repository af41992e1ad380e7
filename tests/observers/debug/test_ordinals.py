"""Which run of its session one is, in words."""
from __future__ import annotations

import pytest

from pyfuncdbg.observers.debug.ordinals import ordinal


@pytest.mark.parametrize(('number', 'word'), [
    (1, '1st'), (2, '2nd'), (3, '3rd'), (4, '4th'), (11, '11th'), (12, '12th'), (13, '13th'), (21, '21st'), (112, '112th'),
    (1022, '1,022nd')])
def test_the_ending_is_that_of_the_word(number: int, word: str) -> None:
    assert ordinal(number) == word
