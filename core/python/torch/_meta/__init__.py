"""Kernels for tensors without data (device "meta"), written in Python as in PyTorch: each computes shape, strides and type of what its operator would make.

`rules` has what they share, `prims` the small operators they call, and `registry` where they are noted; the other files are the kernels by kind.
"""
from . import activations, creation, elementwise, gradients, indexing, layers, matrices, reductions  # noqa: F401
from .registry import register

register()
