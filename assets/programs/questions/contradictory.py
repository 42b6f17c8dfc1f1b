"""A result that has a grad_fn and is an inference tensor at once: where does it come from?"""
import torch


class Odd(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        with torch.inference_mode():
            return torch.ones(3)

    @staticmethod
    def backward(ctx, grad):
        return grad


y = Odd.apply(torch.ones(3, requires_grad=True))
print(y.grad_fn is not None, y.is_inference(), y.sum().item())
