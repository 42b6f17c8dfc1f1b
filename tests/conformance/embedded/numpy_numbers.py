# NumPy's numbers where a number is taken, and as what a tensor is made of.
import warnings

import numpy as np
import torch

warnings.simplefilter("ignore")
t = torch.ones(2)
for y in (np.float32(2) * t, t * np.float32(2), t + np.int64(3), t.long() + np.float64(3), torch.add(t, np.float32(1)), np.float64(2) / t, np.float32(2) < t, t.sum(np.int64(0)),
          torch.full((2,), np.int32(3)), torch.zeros(np.int64(2)), torch.clamp(t, np.float32(0.5), np.float64(0.75)), torch.arange(np.int64(3))):
    print(y)
for data in (np.float64(1), [np.float64(1), 2.0], [np.float32(1), 2], [np.int32(1), 2.0], np.bool_(True), [np.uint8(3)], np.float16(3), np.complex64(1), [[np.float64(2)], [1]],
             [np.array([1.0, 2.0]), np.array([3.0, 4.0])], [np.array([1, 2], dtype=np.int32)], np.arange(3).sum(), [torch.tensor(1.0), np.float64(2)]):
    print(torch.tensor(data), torch.as_tensor(data).dtype)
print(torch.tensor([np.float64(1)], dtype=torch.float32), torch.Tensor([np.float64(1)]))
