"""A model whose parameters are the mean of another's over time."""
import itertools
import math
from copy import deepcopy

from .. import _C
from .._missing import attribute
from ..autograd.modes import no_grad
from ..nn.images import _BatchNorm
from ..nn.module import Module
from .lr_scheduler import LRScheduler, _each_group

_V = _C._VariableFunctions


def _check_decay(decay):
    if decay < 0.0 or decay > 1.0:
        raise ValueError("Invalid decay value %s provided. Please provide a value in [0,1] range." % decay)


def get_ema_multi_avg_fn(decay=0.999):
    _check_decay(decay)

    @no_grad()
    def update(averaged, current, _):
        if averaged[0].is_floating_point() or averaged[0].is_complex():
            _V._foreach_lerp_(averaged, current, 1 - decay)
        else:
            for a, c in zip(averaged, current):
                a.copy_(a * decay + c * (1 - decay))
    return update


def get_swa_multi_avg_fn():
    @no_grad()
    def update(averaged, current, num_averaged):
        if averaged[0].is_floating_point() or averaged[0].is_complex():
            _V._foreach_lerp_(averaged, current, 1 / (num_averaged + 1))
        else:
            differences = _V._foreach_sub(current, averaged)
            _V._foreach_addcdiv_(averaged, differences, [num_averaged + 1] * len(averaged))
    return update


def get_ema_avg_fn(decay=0.999):
    _check_decay(decay)

    @no_grad()
    def update(averaged, current, num_averaged):
        return decay * averaged + (1 - decay) * current
    return update


def get_swa_avg_fn():
    @no_grad()
    def update(averaged, current, num_averaged):
        return averaged + (current - averaged) / (num_averaged + 1)
    return update


class AveragedModel(Module):
    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", _C.tensor(0, dtype=_C.int64, device=device))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def _pairs(self, model):
        if self.use_buffers:
            return zip(itertools.chain(self.module.parameters(), self.module.buffers()), itertools.chain(model.parameters(), model.buffers()))
        return zip(self.parameters(), model.parameters())

    def update_parameters(self, model):
        averaged, current = [], []
        first = bool(self.n_averaged == 0)
        for own, given in self._pairs(model):
            given = given.detach().to(own.device)
            averaged.append(own.detach())
            current.append(given)
            if first:
                own.detach().copy_(given)
        if self.n_averaged > 0:
            self._average(averaged, current)
        if not self.use_buffers:
            for own, given in zip(self.module.buffers(), model.buffers()):
                own.detach().copy_(given.detach().to(own.device))
        self.n_averaged += 1

    def _average(self, averaged, current):
        if self.multi_avg_fn is None and self.avg_fn is not None:
            for a, c in zip(averaged, current):
                a.detach().copy_(self.avg_fn(a.detach(), c, self.n_averaged.to(a.device)))
            return
        kinds = {}
        for a, c in zip(averaged, current):
            kinds.setdefault((a.device.type, a.dtype), []).append((a, c))
        for pairs in reversed(kinds.values()):  # the kind met last comes first, as in stock's table of kinds
            owns, givens = map(list, zip(*pairs))
            count = self.n_averaged.to(owns[0].device)
            if self.multi_avg_fn:
                self.multi_avg_fn(owns, givens, count)
                continue
            update = get_swa_avg_fn()
            for a, c in zip(owns, givens):
                a.copy_(update(a, c, count))


@no_grad()
def update_bn(loader, model, device=None):
    momenta = {}
    for module in model.modules():
        if isinstance(module, _BatchNorm):
            module.reset_running_stats()
            momenta[module] = module.momentum
    if not momenta:
        return
    was_training = model.training
    model.train()
    for module in momenta:
        module.momentum = None
    for input in loader:
        if isinstance(input, (list, tuple)):
            input = input[0]
        if device is not None:
            input = input.to(device)
        model(input)
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos", last_epoch=-1):
        for lr, group in zip(_each_group("swa_lr", optimizer, swa_lr), optimizer.param_groups):
            group["swa_lr"] = lr
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError("anneal_strategy must be one of 'cos' or 'linear', instead got %s" % anneal_strategy)
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError("anneal_epochs must be equal or greater than 0, got %s" % anneal_epochs)
        self._anneal_strategy, self.anneal_epochs = anneal_strategy, anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _part(self, step):
        t = max(0, min(1, step / max(1, self.anneal_epochs)))
        return (1 - math.cos(math.pi * t)) / 2 if self._anneal_strategy == "cos" else t

    def get_lr(self):
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._part(step - 1), self._part(step)
        first = [g["swa_lr"] if before == 1 else (g["lr"] - before * g["swa_lr"]) / (1 - before) for g in self.optimizer.param_groups]
        return [g["swa_lr"] * now + lr * (1 - now) for g, lr in zip(self.optimizer.param_groups, first)]


__getattr__ = attribute("torch.optim.swa_utils")
