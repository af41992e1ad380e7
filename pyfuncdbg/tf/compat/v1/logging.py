"""`tf.compat.v1.logging`: Python's logger 'tensorflow'."""
from logging import DEBUG, ERROR, FATAL, INFO, WARN

from pyfuncdbg.hosts.numpy.ops.checks.logger import (
    debug,
    error,
    fatal,
    get_verbosity,
    info,
    log,
    log_every_n,
    log_first_n,
    set_verbosity,
    vlog,
    warn,
    warning,
)
from pyfuncdbg.tf.public import publish as _publish

__all__ = ['DEBUG', 'ERROR', 'FATAL', 'INFO', 'WARN', 'debug', 'error', 'fatal', 'get_verbosity', 'info', 'log',
           'log_every_n', 'log_first_n', 'set_verbosity', 'vlog', 'warn', 'warning']

_publish(globals())
