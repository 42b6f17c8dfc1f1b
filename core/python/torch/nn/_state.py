"""A module's state: what is written of it and read again."""
import itertools
import warnings
from collections import OrderedDict, namedtuple
from collections.abc import Mapping

from .. import _C
from ..autograd.modes import no_grad
from ..utils.hooks import add
from ._calling import _OfModule
from .parameter import Parameter, is_lazy

_EXTRA = "_extra_state"


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    __slots__ = ()

    def __repr__(self):
        return super().__repr__() if self.missing_keys or self.unexpected_keys else "<All keys matched successfully>"

    __str__ = __repr__


class State:
    """Of Module: state_dict and load_state_dict."""
    _version = 1

    def get_extra_state(self):
        raise RuntimeError("Reached a code path in Module.get_extra_state() that should never be called. Please file an issue at "
                           "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml to report this bug.")

    def set_extra_state(self, state):
        raise RuntimeError("Reached a code path in Module.set_extra_state() that should never be called. Please file an issue at "
                           "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml to report this bug.")

    def register_state_dict_pre_hook(self, hook):
        return add(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook):
        hook._from_public_api = True
        return add(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook):
        return add(self._state_dict_hooks, hook)

    def _register_load_state_dict_pre_hook(self, hook, with_module=False):
        return add(self._load_state_dict_pre_hooks, _OfModule(hook, self) if with_module else hook)

    def register_load_state_dict_pre_hook(self, hook):
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def register_load_state_dict_post_hook(self, hook):
        return add(self._load_state_dict_post_hooks, hook)

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        for held in (self._parameters, self._buffers):
            for name, t in held.items():
                if t is not None and (held is self._parameters or name not in self._non_persistent_buffers_set):
                    destination[prefix + name] = t if keep_vars else t.detach()
        if type(self).get_extra_state is not State.get_extra_state:
            destination[prefix + _EXTRA] = self.get_extra_state()

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        if args:
            warnings.warn("Positional args are being deprecated, use kwargs instead. Refer to https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict"
                          " for details.", FutureWarning, stacklevel=2)
            destination, prefix, keep_vars = (*args, *(destination, prefix, keep_vars)[len(args):])
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=prefix + name + ".", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            changed = hook(self, destination, prefix, metadata)
            if changed is None:
                continue
            if getattr(hook, "_from_public_api", False):
                raise RuntimeError("state_dict post-hook must return None")
            destination = changed
        return destination

    def _load_one(self, name, key, own, given, assign, errors):
        if not isinstance(given, _C.TensorBase):
            errors.append('While copying the parameter named "%s", expected torch.Tensor or Tensor-like object from checkpoint but received %s' % (key, type(given)))
            return
        if not is_lazy(own):
            if own.dim() == 0 and tuple(given.shape) == (1,):
                given = given[0]
            if given.shape != own.shape:
                errors.append("size mismatch for %s: copying a param with shape %s from checkpoint, the shape in current model is %s." % (key, given.shape, own.shape))
                return
        if own.is_meta and not given.is_meta and not assign:
            warnings.warn("for %s: copying from a non-meta parameter in the checkpoint to a meta parameter in the current model, which is a no-op. (Did you mean to pass "
                          "`assign=True` to assign items in the state dictionary to their corresponding key in the module instead of copying them in place?)" % key, stacklevel=2)
        try:
            with no_grad():
                if not assign:
                    own.copy_(given)
                elif not isinstance(own, Parameter):
                    setattr(self, name, given)
                else:
                    setattr(self, name, given.requires_grad_(own.requires_grad) if isinstance(given, Parameter) else Parameter(given, requires_grad=own.requires_grad))
        except Exception as e:
            errors.append('While copying the parameter named "%s", whose dimensions in the model are %s and whose dimensions in the checkpoint are %s, an exception occurred : %s.'
                          % (key, own.size(), given.size(), e.args))

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        kept = {k: v for k, v in self._buffers.items() if k not in self._non_persistent_buffers_set}
        own = {k: v for k, v in itertools.chain(self._parameters.items(), kept.items()) if v is not None}
        for name, t in own.items():
            key = prefix + name
            if key in state_dict:
                self._load_one(name, key, t, state_dict[key], local_metadata.get("assign_to_params_buffers", False), error_msgs)
            elif strict:
                missing_keys.append(key)
        extra = prefix + _EXTRA
        if type(self).set_extra_state is not State.set_extra_state:
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        for key in state_dict if strict else ():
            if key.startswith(prefix) and key != extra:
                first, dot, _ = key[len(prefix):].partition(".")
                if first not in (self._modules if dot else own):
                    unexpected_keys.append(key)

    def load_state_dict(self, state_dict, strict=True, assign=False):
        if not isinstance(state_dict, Mapping):
            raise TypeError("Expected state_dict to be dict-like, got %s." % type(state_dict))
        lacking, unknown, errors = [], [], []
        metadata = getattr(state_dict, "_metadata", None)
        state_dict = OrderedDict(state_dict)
        if metadata is not None:
            state_dict._metadata = metadata

        def load(module, given, prefix=""):
            own_metadata = {} if metadata is None else metadata.get(prefix[:-1], {})
            if assign:
                own_metadata["assign_to_params_buffers"] = assign
            module._load_from_state_dict(given, prefix, own_metadata, True, lacking, unknown, errors)
            for name, child in module._modules.items():
                if child is not None:
                    below = prefix + name + "."
                    load(child, {k: v for k, v in given.items() if k.startswith(below)}, below)
            keys = _IncompatibleKeys(lacking, unknown)
            for hook in module._load_state_dict_post_hooks.values():
                if hook(module, keys) is not None:
                    raise AssertionError("Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new values, if incompatible_keys need to be "
                                         "modified, it should be done inplace.")
        load(self, state_dict)
        if strict and unknown:
            errors.insert(0, "Unexpected key(s) in state_dict: %s. " % ", ".join('"%s"' % k for k in unknown))
        if strict and lacking:
            errors.insert(0, "Missing key(s) in state_dict: %s. " % ", ".join('"%s"' % k for k in lacking))
        if errors:
            raise RuntimeError("Error(s) in loading state_dict for %s:\n\t%s" % (type(self).__name__, "\n\t".join(errors)))
        return _IncompatibleKeys(lacking, unknown)


