# Straight-through estimator: a custom autograd Function for sign(), used in a binary-weight classifier.
import torch
import torch.nn as nn
import torch.nn.functional as F


class SignSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, w):
        ctx.save_for_backward(w)
        return torch.where(w >= 0, torch.ones_like(w), -torch.ones_like(w))

    @staticmethod
    def backward(ctx, grad_out):
        (w,) = ctx.saved_tensors
        return grad_out * (w.abs() <= 1).to(grad_out.dtype)


class MySoftplus(torch.autograd.Function):
    """softplus with a sharpness argument that gets no gradient"""
    @staticmethod
    def forward(ctx, x, beta):
        ctx.beta = beta
        ctx.save_for_backward(x)
        return torch.log1p(torch.exp(beta * x)) / beta

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * torch.sigmoid(ctx.beta * x), None


class BinaryLinear(nn.Linear):
    def forward(self, x):
        alpha = self.weight.abs().mean(dim=1, keepdim=True)
        return F.linear(x, SignSTE.apply(self.weight) * alpha, self.bias)

    def extra_repr(self):
        return super().extra_repr() + ", binary=True"


torch.manual_seed(0)
xs = torch.randn(4, 3, dtype=torch.double, requires_grad=True)
print("gradcheck softplus:", torch.autograd.gradcheck(lambda t: MySoftplus.apply(t, 2.0), (xs,)))
w = torch.tensor([-2.0, -0.5, 0.0, 0.7, 3.0], requires_grad=True)
out = SignSTE.apply(w)
out.backward(torch.arange(1., 6.))
print(out, out.grad_fn.name(), w.grad)

X = torch.rand(64, 2) * 2 - 1
y = (X[:, 0] * X[:, 1] > 0).long()          # xor quadrants
net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), BinaryLinear(32, 32), nn.Tanh(), nn.Linear(32, 2))
print(net)
opt = torch.optim.Adam(net.parameters(), lr=0.05)
for epoch in range(15):
    loss = F.cross_entropy(net(X), y)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    with torch.no_grad():
        net[2].weight.clamp_(-1, 1)
    if epoch % 2 == 0:
        acc = (net(X).argmax(1) == y).float().mean()
        print(f"epoch {epoch:3d}  loss {loss.item():.4f}  acc {acc:.3f}")
bw = SignSTE.apply(net[2].weight)
print("unique values:", bw.unique(), "positive:", (bw > 0).sum().item())
