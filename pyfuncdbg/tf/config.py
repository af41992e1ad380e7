"""`tf.config`."""
from pyfuncdbg.runtime.function import functions_run_eagerly, run_functions_eagerly

experimental_run_functions_eagerly = run_functions_eagerly

__all__ = ['experimental_run_functions_eagerly', 'functions_run_eagerly', 'run_functions_eagerly']
