"""Two custom operators with a kernel at the CPU key only: why does one have a gradient and the other none?"""
import warnings

import torch

warnings.filterwarnings("ignore", message=".*an autograd kernel was not registered")
lib = torch.library.Library("peel_ask", "DEF")
lib.define("clear(Tensor x) -> Tensor")
lib.define("opaque(Tensor x) -> Tensor")
lib.impl("clear", lambda x: x * x, "CPU")
lib.impl("opaque", lambda x: torch.from_numpy(x.detach().numpy() ** 2), "CPU")
for op in (torch.ops.peel_ask.clear, torch.ops.peel_ask.opaque):
    x = torch.tensor([3.0], requires_grad=True)
    y = op(x)
    y.sum().backward()
    print(y.grad_fn.name(), x.grad is not None)
