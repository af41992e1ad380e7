"""The flags of a recorded call, as bits of the column `flags` of a batch. Their values are part of the trace format."""
from __future__ import annotations

FAILED, BAD, PRINTED, RETRY, CHANGED = 1, 2, 4, 8, 16
"""`CHANGED` is that of a call whose function wrote to an input."""
