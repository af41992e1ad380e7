"""Ragged tensors: tensors whose rows differ in length. Imported together, so that operators and ops accept them."""
from pyfuncdbg.hosts.numpy.ops.ragged import arithmetic, functions, methods, spec

__all__ = ['arithmetic', 'functions', 'methods', 'spec']
