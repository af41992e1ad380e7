"""Version of TensorFlow that this runtime reports to programs under `tf.version`. No state."""

VERSION = '2.21.0'
GIT_VERSION = 'v2.21.0'
COMPILER_VERSION = 'none'
