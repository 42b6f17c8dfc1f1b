"""exp(a.conj()) makes calls that exp(a) does not. Which, and who makes them?"""
import torch

a = torch.tensor([1 + 2j, 3 - 1j])
torch.exp(a)
print(torch.exp(a.conj()).tolist())
