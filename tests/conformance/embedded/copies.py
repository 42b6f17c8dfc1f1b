"""Copies, views and detached tensors: who sees a write."""
import copy

import torch

x = torch.arange(4.0)
view, clone, deep, shallow = x.view(2, 2), x.clone(), copy.deepcopy(x), copy.copy(x)
x[0] = 10
print(view, clone, deep, shallow)
w = torch.ones(2, requires_grad=True)
d = w.detach()
d[0] = 5
print(w, w.data, d.requires_grad, (w * 2).detach())
twin = copy.deepcopy(w)
twin.data.fill_(0)
print(twin, w, twin.requires_grad, copy.deepcopy([x[:2], x[:2]])[1])
model = torch.nn.Linear(2, 1)
other = copy.deepcopy(model)
with torch.no_grad():
    other.weight.zero_()
print(model.weight.abs().sum() > 0, other.weight, x.data_ptr() == view.data_ptr(), x.untyped_storage().nbytes(), view.storage_offset(), x.is_contiguous(), view.t().is_contiguous())
