"""A number of bytes as a user writes it: '256MB', '64k', '1.5 GiB'. Options and settings of a budget are read with it."""
from __future__ import annotations

import re

from pyfuncdbg.errors import UsageError

_POWERS = {'': 0, 'K': 1, 'M': 2, 'G': 3, 'T': 4}


def byte_size(text: str) -> int:
    """Bytes of '256MB', '64k', '1.5 GiB' or '4096': units are powers of 1024, as the report prints them.

    Raises:
        UsageError: It is not a size, or it is zero.
    """
    match = re.fullmatch(r'(\d+(?:\.\d+)?)\s*([KMGT]?)I?B?', text.strip(), re.IGNORECASE | re.ASCII)
    nbytes = int(float(match[1]) * 1024 ** _POWERS[match[2].upper()]) if match else 0
    if nbytes < 1:
        raise UsageError(f'{text!r} is not a size; write it as 256MB or 1.5GB')
    return nbytes
