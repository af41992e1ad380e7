"""Ragged tensors: tensors whose rows differ in length."""
