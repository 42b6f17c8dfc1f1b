from .. import _C
from .optimizer import Optimizer, only_loops, without_grad


class Adam(Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *, maximize=False, decoupled_weight_decay=False, **options):
        only_loops(type(self).__name__, options)
        if lr < 0.0:
            raise ValueError("Invalid learning rate: %s" % lr)
        if eps < 0.0:
            raise ValueError("Invalid epsilon value: %s" % eps)
        for i, beta in enumerate(betas):
            if not 0.0 <= beta < 1.0:
                raise ValueError("Invalid beta parameter at index %d: %s" % (i, beta))
        if weight_decay < 0.0:
            raise ValueError("Invalid weight_decay value: %s" % weight_decay)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad, maximize=maximize, foreach=None,
                                      capturable=False, differentiable=False, fused=None, decoupled_weight_decay=decoupled_weight_decay))

    def _state(self, p, group):
        from .. import preserve_format, zeros_like
        state = self.state[p]
        if not state:
            state["step"] = _C.tensor(0.0, dtype=_C.float32)
            names = ["exp_avg", "exp_avg_sq"] + (["max_exp_avg_sq"] if group["amsgrad"] else [])
            for name in names:
                state[name] = zeros_like(p, memory_format=preserve_format)
        return state

    @without_grad
    def step(self, closure=None):
        loss = self._loss(closure)
        for group in self.param_groups:
            # All states are there before the first update, as in PyTorch.
            if any(p.grad is not None and p.grad.is_sparse for p in group["params"]):
                raise RuntimeError("Adam does not support sparse gradients, please consider SparseAdam instead")
            trained = [(p, self._state(p, group)) for p in group["params"] if p.grad is not None]
            for p, state in trained:
                self._update(p, state, group)
        return loss

    def _update(self, p, state, group):
        lr, (beta1, beta2), decay = group["lr"], group["betas"], group["weight_decay"]
        grad = -p.grad if group["maximize"] else p.grad
        state["step"] += 1
        if decay != 0:
            if group["decoupled_weight_decay"]:
                p.mul_(1 - lr * decay)
            else:
                grad = grad.add(p, alpha=decay)
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        step = state["step"].item()
        if group["amsgrad"]:
            from .. import maximum
            maximum(state["max_exp_avg_sq"], square, out=state["max_exp_avg_sq"])
            square = state["max_exp_avg_sq"]
        denominator = (square.sqrt() / (1 - beta2 ** step) ** 0.5).add_(group["eps"])
        p.addcdiv_(mean, denominator, value=-(lr / (1 - beta1 ** step)))


class AdamW(Adam):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, *, maximize=False, **options):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize, decoupled_weight_decay=True, **options)
