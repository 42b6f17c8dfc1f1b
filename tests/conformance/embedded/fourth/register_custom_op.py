"""Register a custom operator with torch.library, with a fake kernel and an autograd formula."""
import torch
from torch import Tensor


@torch.library.custom_op("unseendemo::scaled_relu2", mutates_args=())
def scaled_relu2(x: Tensor, scale: float) -> Tensor:
    """scale * relu(x)**2"""
    return scale * x.clamp(min=0) ** 2


@scaled_relu2.register_fake
def _(x, scale):
    return torch.empty_like(x)


def setup_context(ctx, inputs, output):
    x, scale = inputs
    ctx.save_for_backward(x)
    ctx.scale = scale


def backward(ctx, grad):
    (x,) = ctx.saved_tensors
    return 2 * ctx.scale * grad * x.clamp(min=0), None


scaled_relu2.register_autograd(backward, setup_context=setup_context)


@torch.library.custom_op("unseendemo::add_one_", mutates_args={"x"})
def add_one_(x: Tensor) -> None:
    x += 1


def main():
    torch.manual_seed(0)
    x = torch.randn(3, 4, requires_grad=True)
    y = scaled_relu2(x, 0.5)
    ref = 0.5 * torch.relu(x) ** 2
    print("forward ok:", torch.allclose(y, ref))
    gy, = torch.autograd.grad(y.sum(), x)
    gr, = torch.autograd.grad(ref.sum(), x)
    print("backward ok:", torch.allclose(gy, gr))
    print("same through torch.ops:", torch.equal(torch.ops.unseendemo.scaled_relu2(x, 0.5), y))
    print("schema:", torch.ops.unseendemo.scaled_relu2.default._schema)

    xd = torch.randn(4, dtype=torch.double, requires_grad=True)
    print("gradcheck:", torch.autograd.gradcheck(lambda t: scaled_relu2(t, 2.0), (xd,)))

    z = torch.zeros(3)
    add_one_(z)
    add_one_(z)
    print("mutated:", z.tolist())

    meta = scaled_relu2(torch.empty(5, 7, device="meta"), 1.0)
    print("meta:", tuple(meta.shape), meta.device)

    # use it in a little network, plain SGD
    w = torch.rand(4, 1) * 0.5
    w.requires_grad_(True)
    data = torch.rand(64, 4)
    target = 0.5 * (data @ torch.tensor([[0.3], [0.6], [0.1], [0.9]])) ** 2
    for step in range(60):
        loss = ((scaled_relu2(data @ w, 0.5) - target) ** 2).mean()
        g, = torch.autograd.grad(loss, w)
        with torch.no_grad():
            w -= 0.5 * g
        if step % 20 == 0:
            print("step %d loss %.4f" % (step, loss.item()))
    print("final loss %.4f" % loss.item())


if __name__ == "__main__":
    main()
