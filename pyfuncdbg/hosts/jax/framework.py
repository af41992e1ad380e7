"""Declaration of JAX. Loads nothing of JAX."""
from __future__ import annotations

from pyfuncdbg.hosts.interception.framework import Framework, TensorCode

FRAMEWORK = Framework('jax', 'JAX', packages=('jax', 'jaxlib'), modules=('jax.', 'jaxlib.'),
                      attachment='pyfuncdbg.hosts.jax.attachment.JaxAttachment',
                      doctor='pyfuncdbg.hosts.jax.doctor.doctor.DOCTOR',
                      results='pyfuncdbg.hosts.jax.results',
                      tensor_code=TensorCode('import jax.numpy as jnp', 'jnp.asarray'), fuses_ops=True)
