"""Ragged tensors: tensors whose rows differ in length. All of it is loaded together: operators and ops know them then."""
from pyfuncdbg.hosts.numpy.ops.ragged import arithmetic, functions, methods, spec

__all__ = ['arithmetic', 'functions', 'methods', 'spec']
