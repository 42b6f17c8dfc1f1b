"""TorchDispatchMode, a tensor subclass with __torch_dispatch__, a TorchFunctionMode and fake tensors."""
import torch
from torch._subclasses import FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map


class Log(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.append(str(func))
        return func(*args, **(kwargs or {}))


class Wrapped(torch.Tensor):
    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, requires_grad=inner.requires_grad)

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        unwrap = lambda t: t.inner if isinstance(t, Wrapped) else t
        out = func(*tree_map(unwrap, args), **tree_map(unwrap, kwargs or {}))
        return tree_map(lambda t: Wrapped(t) if isinstance(t, torch.Tensor) else t, out)


class Functions(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


torch.manual_seed(12)
x = torch.randn(2, 3, requires_grad=True)
with Log() as log:
    y = torch.nn.functional.gelu(x @ x.t()).sum()
    y.backward()
print(log.names, x.grad.tolist())
w = Wrapped(torch.randn(2, 3))
z = (w * 2 + 1).exp()
print(type(z).__name__, z.inner.tolist())
with Functions(), Log() as log:
    torch.add(x, 1).detach()
print(log.names)
with FakeTensorMode():
    fake = torch.empty(4, 5) @ torch.empty(5, 6)
print(fake.shape, torch.empty(2, device="meta").exp().shape)
