"""Parts of tensors that are held at zero, by a mask."""
import numbers

from ... import _C
from ..._missing import attribute

_V = _C._VariableFunctions


def _check_amount(amount):
    if not isinstance(amount, numbers.Real):
        raise TypeError("Invalid type for amount: %s. Must be int or float." % amount)
    if (isinstance(amount, numbers.Integral) and amount < 0) or (not isinstance(amount, numbers.Integral) and (float(amount) > 1.0 or float(amount) < 0.0)):
        raise ValueError("amount=%s should either be a float in the range [0, 1] or a non-negative integer" % amount)


def _count(amount, size):
    count = amount if isinstance(amount, numbers.Integral) else round(amount * size)
    if isinstance(amount, numbers.Integral) and count > size:
        raise ValueError("amount=%s should be smaller than the number of parameters to prune=%s" % (count, size))
    return count


def _copy(mask):
    return mask.clone(memory_format=_C.contiguous_format)


class BasePruningMethod:
    PRUNING_TYPE = "unstructured"
    _tensor_name = None

    def __call__(self, module, inputs):
        setattr(module, self._tensor_name, self.apply_mask(module))

    def compute_mask(self, t, default_mask):
        raise NotImplementedError

    def apply_mask(self, module):
        if self._tensor_name is None:
            raise AssertionError("Module %s has to be pruned" % module)
        mask, orig = getattr(module, self._tensor_name + "_mask"), getattr(module, self._tensor_name + "_orig")
        return mask.to(dtype=orig.dtype) * orig

    @classmethod
    def apply(cls, module, name, *args, importance_scores=None, **kwargs):
        found = [(k, h) for k, h in module._forward_pre_hooks.items() if isinstance(h, BasePruningMethod) and h._tensor_name == name]
        if len(found) > 1:
            raise AssertionError("Avoid adding multiple pruning hooks to the same tensor %s of module %s. Use a PruningContainer." % (name, module))
        method = cls(*args, **kwargs)
        method._tensor_name = name
        for key, old in found:
            del module._forward_pre_hooks[key]
            container = old if isinstance(old, PruningContainer) else PruningContainer(old)
            container.add_pruning_method(method)
            method = container
        orig = getattr(module, name)
        if importance_scores is None:
            importance_scores = orig
        elif importance_scores.shape != orig.shape:
            raise AssertionError("importance_scores should have the same shape as parameter %s of %s, got %s vs %s" % (name, module, importance_scores.shape, orig.shape))
        first = not isinstance(method, PruningContainer)
        if first:
            module.register_parameter(name + "_orig", orig)
            del module._parameters[name]
            default_mask = _V.ones_like(orig)
        else:
            default_mask = _copy(getattr(module, name + "_mask").detach())
        try:
            module.register_buffer(name + "_mask", method.compute_mask(importance_scores, default_mask=default_mask))
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if first:
                module.register_parameter(name, getattr(module, name + "_orig"))
                del module._parameters[name + "_orig"]
            raise
        return method

    def prune(self, t, default_mask=None, importance_scores=None):
        default_mask = _V.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(t if importance_scores is None else importance_scores, default_mask=default_mask)

    def remove(self, module):
        name = self._tensor_name
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        orig = module._parameters[name + "_orig"]
        orig.data = weight.data
        del module._parameters[name + "_orig"]
        del module._buffers[name + "_mask"]
        setattr(module, name, orig)


class PruningContainer(BasePruningMethod):
    """Several, of which the last one works on what the others left."""

    def __init__(self, *args):
        self._pruning_methods = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method):
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError("%s is not a BasePruningMethod subclass" % type(method))
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError("Can only add pruning methods acting on the parameter named '%s' to PruningContainer %s. Found '%s'" % (self._tensor_name, self, method._tensor_name))
        self._pruning_methods += (method,)

    def __len__(self):
        return len(self._pruning_methods)

    def __iter__(self):
        return iter(self._pruning_methods)

    def __getitem__(self, i):
        return self._pruning_methods[i]

    def compute_mask(self, t, default_mask):
        method = self._pruning_methods[-1]
        new = default_mask.to(dtype=t.dtype)
        if method.PRUNING_TYPE == "unstructured":
            left = default_mask == 1
        elif method.PRUNING_TYPE in ("structured", "global"):
            left = [slice(None)] * t.dim()
            if method.PRUNING_TYPE == "structured":
                if not hasattr(method, "dim"):
                    raise AttributeError('Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` defined.')
                dim = method.dim + t.dim() if method.dim < 0 else method.dim
                if dim < 0:
                    raise IndexError("Index is out of bounds for tensor with dimensions %d" % t.dim())
                left[dim] = default_mask.sum(dim=[d for d in range(t.dim()) if d != dim]) != 0
            left = tuple(left)
        else:
            raise ValueError("Unrecognized PRUNING_TYPE %s" % method.PRUNING_TYPE)
        part = method.compute_mask(t[left], default_mask=default_mask[left])
        new[left] = part.to(dtype=new.dtype)
        return new


class Identity(BasePruningMethod):
    def compute_mask(self, t, default_mask):
        return default_mask


class _Amount(BasePruningMethod):
    def __init__(self, amount):
        _check_amount(amount)
        self.amount = amount

    def compute_mask(self, t, default_mask):
        count = _count(self.amount, t.nelement())
        mask = _copy(default_mask)
        if count != 0:
            least = self._least(t, count)
            mask.view(-1)[least.indices] = 0
        return mask


class RandomUnstructured(_Amount):
    def _least(self, t, count):
        return _V.topk(_V.rand_like(t).view(-1), k=count)


class L1Unstructured(_Amount):
    def _least(self, t, count):
        return _V.topk(_V.abs(t).view(-1), k=count, largest=False)


class _Structured(BasePruningMethod):
    PRUNING_TYPE = "structured"

    def __init__(self, amount, dim=-1):
        _check_amount(amount)
        self.amount, self.dim = amount, dim

    def compute_mask(self, t, default_mask):
        if t.dim() <= 1:
            raise ValueError("Structured pruning can only be applied to multidimensional tensors. Found tensor of shape %s with %d dims" % (t.shape, t.dim()))
        if self.dim >= t.dim():
            raise IndexError("Invalid index %d for tensor of size %s" % (self.dim, t.shape))
        size = t.shape[self.dim]
        count = _count(self.amount, size)
        kept = self._kept(t, size, count)
        if count == 0:
            return default_mask
        mask = _V.zeros_like(t)
        place = [slice(None)] * t.dim()
        place[self.dim] = kept
        mask[tuple(place)] = 1
        mask *= default_mask.to(dtype=mask.dtype)
        return mask


class RandomStructured(_Structured):
    def _kept(self, t, size, count):
        import torch
        if count == 0:
            return None
        score = torch.rand(size)
        return score > torch.kthvalue(score, k=count).values


class LnStructured(_Structured):
    def __init__(self, amount, n, dim=-1):
        super().__init__(amount, dim)
        self.n = n

    def _kept(self, t, size, count):
        import torch
        norm = torch.norm(t, p=self.n, dim=[d for d in range(t.dim()) if d != (self.dim + t.dim() if self.dim < 0 else self.dim)])
        return torch.topk(norm, k=size - count, largest=True).indices


class CustomFromMask(BasePruningMethod):
    PRUNING_TYPE = "global"

    def __init__(self, mask):
        self.mask = mask

    def compute_mask(self, t, default_mask):
        if default_mask.shape != self.mask.shape:
            raise AssertionError("default_mask shape %s must match self.mask shape %s" % (default_mask.shape, self.mask.shape))
        return default_mask * self.mask.to(dtype=default_mask.dtype)


def identity(module, name):
    Identity.apply(module, name)
    return module


def random_unstructured(module, name, amount):
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module, name, amount, importance_scores=None):
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module, name, amount, dim):
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module, name, amount, n, dim, importance_scores=None):
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module, name, mask):
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters, pruning_method, importance_scores=None, **kwargs):
    from . import parameters_to_vector
    scores = importance_scores or {}
    of_all = parameters_to_vector([scores.get((m, n), getattr(m, n)) for m, n in parameters])
    default = parameters_to_vector([getattr(m, n + "_mask", _V.ones_like(getattr(m, n))) for m, n in parameters])
    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    container.add_pruning_method(method)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError('Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method %s of type %s' % (pruning_method, method.PRUNING_TYPE))
    mask, at = container.compute_mask(of_all, default), 0
    for module, name in parameters:
        param = getattr(module, name)
        custom_from_mask(module, name, mask=mask[at:at + param.numel()].view_as(param))
        at += param.numel()


def remove(module, name):
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError("Parameter '%s' of module %s has to be pruned before pruning.remove() can be called." % (name, module))


def is_pruned(module):
    return any(isinstance(hook, BasePruningMethod) for _, m in module.named_modules() for hook in m._forward_pre_hooks.values())


__getattr__ = attribute("torch.nn.utils.prune")
