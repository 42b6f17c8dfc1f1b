import math

from .. import _C
from .optimizer import Optimizer, without_grad


class SparseAdam(Optimizer):
    """Adam of the rows that a sparse gradient has; the others, and their moments, stay as they are."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, maximize=False):
        if not 0.0 < lr:
            raise ValueError("Invalid learning rate: %s" % lr)
        if not 0.0 < eps:
            raise ValueError("Invalid epsilon value: %s" % eps)
        for i, beta in enumerate(betas):
            if not 0.0 <= beta < 1.0:
                raise ValueError("Invalid beta parameter at index %d: %s" % (i, beta))
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, maximize=maximize))
        sparse = [[g, i] for g, group in enumerate(self.param_groups) for i, p in enumerate(group["params"]) if p.is_sparse]
        if sparse:
            raise ValueError("Sparse params at indices %s: SparseAdam requires dense parameter tensors" % sparse)

    def _state(self, p):
        from .. import preserve_format, zeros_like
        if not p.grad.is_sparse:
            raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
        state = self.state[p]
        if not state:
            state["step"] = 0
            for name in ("exp_avg", "exp_avg_sq"):
                state[name] = zeros_like(p, memory_format=preserve_format)
        state["step"] += 1
        return state

    @without_grad
    def step(self, closure=None):
        loss = self._loss(closure)
        for group in self.param_groups:
            trained = [(p, self._state(p)) for p in group["params"] if p.grad is not None]
            for p, state in trained:
                self._update(p, state, group)
        return loss

    def _update(self, p, state, group):
        beta1, beta2 = group["betas"]
        grad = (-p.grad if group["maximize"] else p.grad).coalesce()
        indices, values = grad._indices(), grad._values()
        if values.numel() == 0:
            return

        def rows(values):
            return _C._sparse_of(indices, values, list(grad.shape))
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        old_mean = mean.sparse_mask(grad)._values()
        change = values.sub(old_mean).mul_(1 - beta1)
        mean.add_(rows(change))
        old_square = square.sparse_mask(grad)._values()
        change_of_square = values.pow(2).sub_(old_square).mul_(1 - beta2)
        square.add_(rows(change_of_square))
        above = change.add_(old_mean)
        change_of_square.add_(old_square)
        below = change_of_square.sqrt_().add_(group["eps"])
        step = group["lr"] * math.sqrt(1 - beta2 ** state["step"]) / (1 - beta1 ** state["step"])
        p.add_(rows(-step * above.div_(below)))
