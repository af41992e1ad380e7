"""Which TensorFlow this behaves like: what programs read under `tf.version`. No state."""

VERSION = '2.21.0'
GIT_VERSION = 'v2.21.0'
COMPILER_VERSION = 'none'
