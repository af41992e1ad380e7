"""Files and modules of TensorFlow and Keras.

Declared when `hosts` is imported; loads nothing of TensorFlow.
"""
from __future__ import annotations

from pyfuncdbg.hooks.own_files import Framework

FRAMEWORK = Framework(packages=('tensorflow/python', 'keras/src'), modules=('tensorflow.',), adapter='hosts/tensorflow')
