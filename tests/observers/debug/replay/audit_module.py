"""A module of the program: what is made at import is there in a replay."""
import threading

import numpy as np

LOCAL = threading.local()
TABLE = {'scale': 2.0, 'rng': np.random.default_rng(3)}
COUNTS = {'calls': 0}
