"""Sparse tensors: tensors of which only some elements are kept."""
