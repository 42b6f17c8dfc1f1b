"""An operator has a kernel, and yet it "could not run". Which key was wanted, and which are there?"""
import torch

lib = torch.library.Library("peel_ask", "DEF")
lib.define("gelu_fast(Tensor x) -> Tensor")
lib.impl("gelu_fast", lambda x: x, "CUDA")
try:
    torch.ops.peel_ask.gelu_fast(torch.ones(3))
except NotImplementedError as e:
    print(str(e).split(".")[0])
