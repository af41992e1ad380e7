"""Declaration of TensorFlow, with Keras. Loads nothing of TensorFlow."""
from __future__ import annotations

from pyfuncdbg.hosts.interception.framework import Framework, TensorCode

FRAMEWORK = Framework('tensorflow', 'TensorFlow', packages=('tensorflow/python', 'keras/src'), modules=('tensorflow.',),
                      attachment='pyfuncdbg.hosts.tensorflow.attachment.TensorFlowAttachment',
                      doctor='pyfuncdbg.hosts.tensorflow.doctor.doctor.DOCTOR',
                      results='pyfuncdbg.hosts.tensorflow.results',
                      tensor_code=TensorCode('import tensorflow as tf', 'tf.constant', ('EagerPyFunc',)), fuses_ops=True,
                      rank_variables=('TF_CONFIG',))
