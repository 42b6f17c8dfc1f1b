"""NumPy's arrays as tensors and back: shared memory, copies, dtypes, views."""
import numpy as np
import torch

a = np.arange(6, dtype=np.float32).reshape(2, 3)
t = torch.from_numpy(a)
t[0, 0] = 100
print(a[0, 0], t.dtype, torch.tensor(a).sum().item(), torch.as_tensor(a).data_ptr() == t.data_ptr())
b = torch.arange(4).numpy()
print(type(b).__name__, b.dtype, b.sum(), torch.ones(2, 2).t().numpy().strides)
w = torch.ones(3, requires_grad=True)
try:
    w.numpy()
except RuntimeError as e:
    print(e)
print(w.detach().numpy() * 2, np.array(w.detach()), np.sqrt(torch.tensor([4.0, 9.0]).numpy()))
print(torch.from_numpy(a[:, ::2]).shape, torch.from_numpy(a.T).stride(), torch.tensor(np.array([1, 2])).dtype, torch.tensor(np.float64(2.5)).item())
(torch.from_numpy(np.array([1.0, 2.0])) * w[:2].double()).sum().backward()
print(w.grad)
