"""What goes wrong, caught: types and messages."""
import torch


def attempt(f):
    try:
        f()
    except Exception as e:
        print(type(e).__name__, str(e).split("\n")[0])


a = torch.ones(2, 3, requires_grad=True)
attempt(lambda: a @ a)
attempt(lambda: a.view(4))
attempt(lambda: a.add_(1))
attempt(lambda: a + torch.ones(4))
attempt(lambda: a[5])
attempt(lambda: a.t().view(6))
attempt(lambda: a.sum().backward(torch.ones(2)))
attempt(lambda: (a * 2).backward())
attempt(lambda: torch.ones(1).backward())
attempt(lambda: torch.ones(2).item())
attempt(lambda: torch.mm(a, 3))
attempt(lambda: torch.exp())
attempt(lambda: torch.exp(1))
attempt(lambda: torch.exp(a, a))
attempt(lambda: a.mm(a, k=1))
attempt(lambda: a + "x")
attempt(lambda: torch.add(a, "x"))
attempt(lambda: torch.ones(1, 2).transpose(0, 5))


def stale():
    y = a.exp()
    y.add_(1)
    y.sum().backward()


def twice():
    y = (a * a).sum()
    y.backward()
    y.backward()


attempt(stale)
attempt(twice)
with torch.no_grad():
    view = (a * 1)[0]
attempt(lambda: a.detach().requires_grad_()[0].mul_(2))
attempt(lambda: torch.tensor([[1, 2], [3]]))
attempt(lambda: torch.ones(2, dtype=torch.int64).requires_grad_())
attempt(lambda: bool(torch.ones(2)))
attempt(lambda: torch.ones(()) and len(torch.ones(())))
