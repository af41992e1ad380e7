"""Parts that the hosts of real frameworks share: declaration of a framework, replaced functions, errors, eager runs."""
