"""The rarer optimizers, as PyTorch's loop over single tensors has them."""
from .. import _C
from .optimizer import Optimizer, only_loops, without_grad


def _zero(by_call):
    """A step counter: made by zeros in some of PyTorch's, out of a number in others."""
    return _C._VariableFunctions.zeros((), dtype=_C.float32) if by_call else _C.tensor(0.0, dtype=_C.float32)


def _zeros_like(p):
    return _C._VariableFunctions.zeros_like(p, memory_format=_C.preserve_format)


def _not_negative(**values):
    for name, value in values.items():
        if not 0.0 <= value:
            raise ValueError("Invalid %s value: %s" % (name.replace("_", " ") if name != "weight_decay" else name, value))


class _Loop(Optimizer):
    """States are all made before the first update. `order`: where PyTorch's has the options that all have, if not at the end."""
    order = ()

    def __init__(self, params, options, more):
        only_loops(type(self).__name__, more)
        given = dict(options, foreach=None, maximize=more.get("maximize", False), differentiable=False, capturable=False, fused=None)
        order = self.order or (*options, "foreach", "maximize", "differentiable", "capturable")
        super().__init__(params, {name: given[name] for name in order})

    @without_grad
    def step(self, closure=None):
        loss = self._loss(closure)
        for group in self.param_groups:
            trained = [p for p in group["params"] if p.grad is not None]
            for p in trained:
                if not self.state[p]:
                    self._begin(p, self.state[p], group)
            for p in trained:
                self._update(p, -p.grad if group["maximize"] else p.grad, self.state[p], group)
        return loss


class RMSprop(_Loop):
    order = tuple("lr momentum alpha eps centered weight_decay capturable foreach maximize differentiable".split())

    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False, **more):
        _not_negative(learning_rate=lr, epsilon=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        super().__init__(params, dict(lr=lr, alpha=alpha, eps=eps, weight_decay=weight_decay, momentum=momentum, centered=centered), more)

    def _begin(self, p, state, group):
        state["step"] = _zero(True)
        state["square_avg"] = _zeros_like(p)
        if group["momentum"] > 0:
            state["momentum_buffer"] = _zeros_like(p)
        if group["centered"]:
            state["grad_avg"] = _zeros_like(p)

    def _update(self, p, grad, state, group):
        state["step"] += 1
        if group["weight_decay"] != 0:
            grad = grad.add(p, alpha=group["weight_decay"])
        alpha, square = group["alpha"], state["square_avg"]
        square.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        if group["centered"]:
            mean = state["grad_avg"]
            mean.lerp_(grad, 1 - alpha)
            root = square.addcmul(mean, mean, value=-1).sqrt_()
        else:
            root = square.sqrt()
        root.add_(group["eps"])
        if group["momentum"] > 0:
            buffer = state["momentum_buffer"]
            buffer.mul_(group["momentum"]).addcdiv_(grad, root)
            p.add_(buffer, alpha=-group["lr"])
        else:
            p.addcdiv_(grad, root, value=-group["lr"])


class Adagrad(_Loop):
    order = tuple("lr lr_decay eps weight_decay initial_accumulator_value foreach maximize differentiable fused".split())

    def __init__(self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10, **more):
        _not_negative(learning_rate=lr, lr_decay=lr_decay, weight_decay=weight_decay, initial_accumulator_value=initial_accumulator_value, epsilon=eps)
        super().__init__(params, dict(lr=lr, lr_decay=lr_decay, eps=eps, weight_decay=weight_decay, initial_accumulator_value=initial_accumulator_value), more)
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["step"] = _zero(False)
                self.state[p]["sum"] = _C._VariableFunctions.full_like(p, group["initial_accumulator_value"], memory_format=_C.preserve_format)

    def _update(self, p, grad, state, group):
        state["step"] += 1
        step = state["step"].item()
        if group["weight_decay"] != 0:
            if grad.is_sparse:
                raise RuntimeError("weight_decay option is not compatible with sparse gradients")
            grad = grad.add(p, alpha=group["weight_decay"])
        rate = group["lr"] / (1 + (step - 1) * group["lr_decay"])
        if grad.is_sparse:
            self._update_rows(p, grad.coalesce(), state, rate, group["eps"])
            return
        state["sum"].addcmul_(grad, grad, value=1)
        root = state["sum"].sqrt().add_(group["eps"])
        p.addcdiv_(grad, root, value=-rate)


    def _update_rows(self, p, grad, state, rate, eps):
        from ..sparse import sparse_coo_tensor
        indices, values = grad._indices(), grad._values()
        state["sum"].add_(sparse_coo_tensor(indices, values.pow(2), grad.shape))
        root = state["sum"].sparse_mask(grad)._values().sqrt_().add_(eps)
        p.add_(sparse_coo_tensor(indices, values / root, grad.shape), alpha=-rate)


class Adadelta(_Loop):
    order = tuple("lr rho eps weight_decay maximize capturable foreach differentiable".split())

    def __init__(self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0, **more):
        _not_negative(learning_rate=lr, rho=rho, epsilon=eps, weight_decay=weight_decay)
        super().__init__(params, dict(lr=lr, rho=rho, eps=eps, weight_decay=weight_decay), more)

    def _begin(self, p, state, group):
        state["step"] = _zero(True)
        state["square_avg"], state["acc_delta"] = _zeros_like(p), _zeros_like(p)

    def _update(self, p, grad, state, group):
        state["step"] += 1
        if group["weight_decay"] != 0:
            grad = grad.add(p, alpha=group["weight_decay"])
        rho, square, deltas = group["rho"], state["square_avg"], state["acc_delta"]
        square.mul_(rho).addcmul_(grad, grad, value=1 - rho)
        root = square.add(group["eps"]).sqrt_()
        delta = deltas.add(group["eps"]).sqrt_()
        delta.div_(root).mul_(grad)
        deltas.mul_(rho).addcmul_(delta, delta, value=1 - rho)
        p.add_(delta, alpha=-group["lr"])


class Adamax(_Loop):
    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, **more):
        _not_negative(learning_rate=lr, epsilon=eps, weight_decay=weight_decay)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay), more)

    def _begin(self, p, state, group):
        state["step"] = _zero(False)
        state["exp_avg"], state["exp_inf"] = _zeros_like(p), _zeros_like(p)

    def _update(self, p, grad, state, group):
        state["step"] += 1
        if group["weight_decay"] != 0:
            grad = grad.add(p, alpha=group["weight_decay"])
        (beta1, beta2), mean, top = group["betas"], state["exp_avg"], state["exp_inf"]
        mean.lerp_(grad, 1 - beta1)
        _C._VariableFunctions.maximum(top.mul_(beta2), grad.abs().add_(group["eps"]), out=top)
        p.addcdiv_(mean, top, value=-(group["lr"] / (1 - beta1 ** state["step"].item())))


class NAdam(_Loop):
    order = tuple("lr betas eps weight_decay momentum_decay decoupled_weight_decay maximize foreach capturable differentiable".split())

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, momentum_decay=4e-3, decoupled_weight_decay=False, **more):
        _not_negative(learning_rate=lr, epsilon=eps, weight_decay=weight_decay, momentum_decay=momentum_decay)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, momentum_decay=momentum_decay, decoupled_weight_decay=decoupled_weight_decay), more)

    def _begin(self, p, state, group):
        state["step"], state["mu_product"] = _zero(False), _C.tensor(1.0, dtype=_C.float32)
        state["exp_avg"], state["exp_avg_sq"] = _zeros_like(p), _zeros_like(p)

    def _update(self, p, grad, state, group):
        state["step"] += 1
        step, (beta1, beta2), lr = state["step"].item(), group["betas"], group["lr"]
        if group["weight_decay"] != 0:
            if group["decoupled_weight_decay"]:
                p.mul_(1 - lr * group["weight_decay"])
            else:
                grad = grad.add(p, alpha=group["weight_decay"])
        decay = group["momentum_decay"]
        mu, next_mu = beta1 * (1.0 - 0.5 * (0.96 ** (step * decay))), beta1 * (1.0 - 0.5 * (0.96 ** ((step + 1) * decay)))
        state["mu_product"] *= mu
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        root = square.div(1 - beta2 ** step).sqrt()
        next_product = state["mu_product"].item() * next_mu
        root.add_(group["eps"])
        p.addcdiv_(grad, root, value=(-lr * (1.0 - mu) / (1.0 - state["mu_product"].item())))
        p.addcdiv_(mean, root, value=(-lr * next_mu) / (1.0 - next_product))


class RAdam(_Loop):
    order = tuple("lr betas eps weight_decay maximize foreach capturable decoupled_weight_decay differentiable".split())

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, decoupled_weight_decay=False, **more):
        _not_negative(learning_rate=lr, epsilon=eps, weight_decay=weight_decay)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, decoupled_weight_decay=decoupled_weight_decay), more)

    def _begin(self, p, state, group):
        state["step"] = _zero(False)
        state["exp_avg"], state["exp_avg_sq"] = _zeros_like(p), _zeros_like(p)

    def _update(self, p, grad, state, group):
        state["step"] += 1
        step, (beta1, beta2), lr = state["step"].item(), group["betas"], group["lr"]
        if group["weight_decay"] != 0:
            if group["decoupled_weight_decay"]:
                p.mul_(1 - lr * group["weight_decay"])
            else:
                grad = grad.add(p, alpha=group["weight_decay"])
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        first, second = 1 - beta1 ** step, 1 - beta2 ** step
        corrected = mean / first
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * step * (beta2 ** step) / second
        if length > 5.0:
            rectified = ((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)) ** 0.5
            adapted = second ** 0.5 / square.sqrt().add_(group["eps"])
            p.add_(corrected * lr * adapted * rectified, alpha=-1.0)
        else:
            p.add_(corrected * lr, alpha=-1.0)


class ASGD(_Loop):
    def __init__(self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0, **more):
        if not 0.0 <= lr:
            raise ValueError("Invalid learning rate: %s" % lr)
        if not 0.0 <= weight_decay:
            raise ValueError("Invalid weight_decay value: %s" % weight_decay)
        super().__init__(params, dict(lr=lr, lambd=lambd, alpha=alpha, t0=t0, weight_decay=weight_decay), more)

    def _begin(self, p, state, group):
        functions = _C._VariableFunctions
        state["step"] = _zero(True)
        state["eta"] = _C._as_tensor(group["lr"], _C.float32, None).clone().detach()
        state["mu"] = functions.ones((), dtype=_C.float32)
        state["ax"] = _zeros_like(p)

    def _update(self, p, grad, state, group):
        mu, ax, eta, lambd, lr = state["mu"], state["ax"], state["eta"], group["lambd"], group["lr"]
        state["step"] += 1
        if group["weight_decay"] != 0:
            grad = grad.add(p, alpha=group["weight_decay"])
        rate = eta.item()
        p.mul_(1 - lambd * rate)
        p.add_(grad, alpha=-rate)
        if mu.item() != 1:
            ax.add_(p.sub(ax).mul_(mu))
        else:
            ax.copy_(p)
        step = state["step"].item()
        eta.copy_(_C._as_tensor(lr / ((1 + lambd * lr * step) ** group["alpha"]), None, None))
        mu.copy_(_C._as_tensor(1 / max(1, step - group["t0"]), None, None))


class Rprop(_Loop):
    def __init__(self, params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), **more):
        if not 0.0 <= lr:
            raise ValueError("Invalid learning rate: %s" % lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError("Invalid eta values: %s, %s" % tuple(etas))
        super().__init__(params, dict(lr=lr, etas=etas, step_sizes=step_sizes), more)

    def _begin(self, p, state, group):
        state["step"] = _zero(True)
        state["prev"] = _zeros_like(p)
        state["step_size"] = _C._VariableFunctions.full_like(p.grad, group["lr"])

    def _update(self, p, grad, state, group):
        state["step"] += 1
        (less, more), (low, high), prev, size = group["etas"], group["step_sizes"], state["prev"], state["step_size"]
        sign = grad.mul(prev).sign()
        sign[sign.gt(0)] = more
        sign[sign.lt(0)] = less
        sign[sign.eq(0)] = 1
        size.mul_(sign).clamp_(low, high)
        grad = grad.clone(memory_format=_C.preserve_format)
        grad[sign.eq(less)] = 0
        p.addcmul_(grad.sign(), size, value=-1)
        prev.copy_(grad)
