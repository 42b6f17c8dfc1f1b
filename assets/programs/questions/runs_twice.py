"""A block is called once, and its operators run twice. Who runs them the second time?"""
import torch
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
block = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
y = checkpoint(block, torch.randn(2, 4, requires_grad=True), use_reentrant=False)
y.sum().backward()
