"""Declaration of JAX. Loads nothing of JAX."""
from __future__ import annotations

from pyfuncdbg.hosts.interception.framework import Framework

FRAMEWORK = Framework('jax', 'JAX', packages=('jax', 'jaxlib'), modules=('jax.', 'jaxlib.'),
                      attachment='pyfuncdbg.hosts.jax.attachment.JaxAttachment',
                      doctor='pyfuncdbg.hosts.jax.doctor.doctor.DOCTOR',
                      results='pyfuncdbg.hosts.jax.results', tensor_import='import jax.numpy as jnp', fuses_ops=True)
