"""A reshaped matrix is written to, and the matrix does not change. Why was it a copy this time?"""
import torch

m = torch.zeros(3, 4)
m.reshape(12)[0] = 1           # a view: m changes
t = m.t()
t.reshape(12)[1] = 7           # a copy: it doesn't
print(m.sum().item())
