"""weight_norm and spectral_norm as hooks that run before forward."""
import warnings

from ..._missing import missing
from ...autograd.modes import no_grad
from .. import functional as F
from ..parameter import Parameter
from .parametrizations import dimension_of


def _taken(module, kind, name, what):
    if any(isinstance(hook, kind) and hook.name == name for hook in module._forward_pre_hooks.values()):
        raise RuntimeError("Cannot register two %s hooks on the same parameter %s" % (what, name))


class WeightNorm:
    def __init__(self, name, dim):
        self.name, self.dim = name, -1 if dim is None else dim

    def compute_weight(self, module):
        import torch
        return torch._weight_norm(getattr(module, self.name + "_v"), getattr(module, self.name + "_g"), self.dim)

    def remove(self, module):
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"]
        del module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module, name="weight", dim=0):
    import torch
    warnings.warn("`torch.nn.utils.weight_norm` is deprecated in favor of `torch.nn.utils.parametrizations.weight_norm`.", FutureWarning, stacklevel=2)
    _taken(module, WeightNorm, name, "weight_norm")
    norm = WeightNorm(name, dim)
    weight = getattr(module, name)
    del module._parameters[name]
    module.register_parameter(name + "_g", Parameter(torch.norm_except_dim(weight, 2, norm.dim).data))
    module.register_parameter(name + "_v", Parameter(weight.data))
    setattr(module, name, norm.compute_weight(module))
    module.register_forward_pre_hook(norm)
    return module


class SpectralNorm:
    _version = 1

    def __init__(self, name="weight", n_power_iterations=1, dim=0, eps=1e-12):
        if n_power_iterations <= 0:
            raise ValueError("Expected n_power_iterations to be positive, but got n_power_iterations=%d" % n_power_iterations)
        self.name, self.n_power_iterations, self.dim, self.eps = name, n_power_iterations, dim, eps

    def as_matrix(self, weight):
        if self.dim != 0:
            weight = weight.permute(self.dim, *(d for d in range(weight.dim()) if d != self.dim))
        return weight.reshape(weight.size(0), -1)

    def compute_weight(self, module, do_power_iteration):
        import torch
        weight, u, v = (getattr(module, self.name + end) for end in ("_orig", "_u", "_v"))
        matrix = self.as_matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v = F.normalize(torch.mv(matrix.t(), u), dim=0, eps=self.eps, out=v)
                    u = F.normalize(torch.mv(matrix, v), dim=0, eps=self.eps, out=u)
                u, v = (t.clone(memory_format=torch.contiguous_format) for t in (u, v))
        return weight / torch.dot(u, torch.mv(matrix, v))

    def remove(self, module):
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for end in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + end)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))

    def told(self, module, state_dict, prefix, local_metadata):
        """Of the state: in which version it is."""
        local_metadata.setdefault("spectral_norm", {})[self.name + ".version"] = self._version

    def known(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        version = local_metadata.get("spectral_norm", {}).get(self.name + ".version")
        key = prefix + self.name
        if (version is None or version < 1) and not (all(key + end in state_dict for end in ("_orig", "_u", "_v")) and key not in state_dict):
            missing("a state of spectral_norm from before version 1")


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    _taken(module, SpectralNorm, name, "spectral_norm")
    norm = SpectralNorm(name, n_power_iterations, dimension_of(module, dim), eps)
    weight = module._parameters[name]
    if weight is None:
        raise ValueError("`SpectralNorm` cannot be applied as parameter `%s` is None" % name)
    with no_grad():
        height, width = norm.as_matrix(weight).size()
        u = F.normalize(weight.new_empty(height).normal_(0, 1), dim=0, eps=eps)
        v = F.normalize(weight.new_empty(width).normal_(0, 1), dim=0, eps=eps)
    delattr(module, name)
    module.register_parameter(name + "_orig", weight)
    setattr(module, name, weight.data)
    module.register_buffer(name + "_u", u)
    module.register_buffer(name + "_v", v)
    module.register_forward_pre_hook(norm)
    module._register_state_dict_hook(norm.told)
    module._register_load_state_dict_pre_hook(norm.known)
    return module


def _remove(module, name, kind, what):
    for hooks in (module._forward_pre_hooks, module._state_dict_hooks, module._load_state_dict_pre_hooks):
        for key, hook in list(hooks.items()):
            hook = getattr(hook, "__self__", hook)
            if isinstance(hook, kind) and hook.name == name:
                if hooks is module._forward_pre_hooks:
                    hook.remove(module)
                    what = None
                del hooks[key]
                break
    if what is not None:
        raise ValueError("%s of '%s' not found in %s" % (what, name, module))
    return module


def remove_weight_norm(module, name="weight"):
    return _remove(module, name, WeightNorm, "weight_norm")


def remove_spectral_norm(module, name="weight"):
    return _remove(module, name, SpectralNorm, "spectral_norm")
