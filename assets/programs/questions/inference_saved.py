"""`a` was made in inference mode. Why may it be added to `w`, but not multiplied by it?"""
import torch

with torch.inference_mode():
    a = torch.ones(3)
w = torch.ones(3, requires_grad=True)
print((a + w).grad_fn.name())
try:
    a * w
except RuntimeError as e:
    print(e)
