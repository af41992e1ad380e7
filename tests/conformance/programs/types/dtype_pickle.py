import tensorflow as tf, numpy as np
import copy, pickle
for name in 'float32 bfloat16 string qint8 complex64 resource bool half'.split():
    d = getattr(tf, name)
    print(name, pickle.loads(pickle.dumps(d)) is d, copy.copy(d) is d, copy.deepcopy(d) is d, copy.deepcopy([d])[0] == d)
