# Custom autograd functions: straight-through sign, a hand-written softplus, and gradcheck on both.
import torch
from torch import nn
from torch.autograd import Function, gradcheck

torch.manual_seed(0)


class SignSTE(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sign()

    @staticmethod
    def backward(ctx, grad_out):
        (x,) = ctx.saved_tensors
        return grad_out * (x.abs() <= 1).to(grad_out.dtype)


class Softplus(Function):
    """log(1 + exp(beta x)) / beta with the derivative written out."""

    @staticmethod
    def forward(ctx, x, beta):
        ctx.beta = beta
        ctx.save_for_backward(x)
        return torch.log1p(torch.exp(beta * x)) / beta

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * torch.sigmoid(ctx.beta * x), None


class MulAdd(Function):
    @staticmethod
    def forward(ctx, a, b, c):
        ctx.save_for_backward(a, b)
        return a * b + c

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        ga = gb = gc = None
        if ctx.needs_input_grad[0]:
            ga = g * b
        if ctx.needs_input_grad[1]:
            gb = g * a
        if ctx.needs_input_grad[2]:
            gc = g
        return ga, gb, gc


class BinaryLinear(nn.Linear):
    def forward(self, x):
        return nn.functional.linear(x, SignSTE.apply(self.weight), self.bias)


x = torch.linspace(-2, 2, 9, requires_grad=True)
SignSTE.apply(x).sum().backward()
print("ste grad:", x.grad)

v = torch.randn(4, dtype=torch.double, requires_grad=True)
print("softplus ok:", torch.allclose(Softplus.apply(v, 2.0), nn.functional.softplus(v, beta=2.0)))
print("gradcheck softplus:", gradcheck(lambda t: Softplus.apply(t, 2.0), (v,)))
a, b = (torch.randn(3, dtype=torch.double, requires_grad=True) for _ in range(2))
c = torch.randn(3, dtype=torch.double)
print("gradcheck muladd:", gradcheck(MulAdd.apply, (a, b, c)))
print("grad_fn:", MulAdd.apply(a, b, c).grad_fn.name())

net = nn.Sequential(BinaryLinear(6, 16), nn.Hardtanh(), BinaryLinear(16, 1))
inp = torch.randn(32, 6)
tgt = (inp[:, :3].sum(1, keepdim=True) > 0).float()
opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.5)
for it in range(25):
    loss = nn.functional.binary_cross_entropy_with_logits(net(inp), tgt)
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for m in net:
            if isinstance(m, BinaryLinear):
                m.weight.clamp_(-1, 1)
    if it % 6 == 0:
        print(f"it {it:2d} loss {loss.item():.4f}")
print(net)
print("binary weights:", net[0].weight.sign().unique())
