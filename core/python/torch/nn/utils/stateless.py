"""A module called with other parameters than its own."""
import contextlib

from ..._missing import attribute

_NONE = object()


def _swap(module, name, tensor):
    path, _, name = name.rpartition(".")
    module = module.get_submodule(path)
    for held in (module._parameters, module._buffers):
        if name in held:
            before = held[name]
            if tensor is _NONE:
                del held[name]
            else:
                held[name] = tensor
            return before
    before = getattr(module, name, _NONE)
    if tensor is not _NONE:
        setattr(module, name, tensor)
    elif before is not _NONE:
        delattr(module, name)
    return before


def _with_tied(module, given):
    """The names too that have the same tensors."""
    names = {}
    for name, t in [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]:
        names.setdefault(id(t), []).append(name)
    result = dict(given)
    for tied in names.values():
        known = [n for n in tied if n in given]
        if len(tied) == 1 or not known:
            continue
        if len({id(given[n]) for n in known}) != 1:
            raise ValueError("functional_call got multiple values for keys %s, which are tied. Consider using tie_weights=False" % sorted(tied))
        result.update((n, given[known[0]]) for n in tied)
    return result


@contextlib.contextmanager
def _reparametrize_module(module, parameters_and_buffers, tie_weights=False, strict=False):
    given = _with_tied(module, parameters_and_buffers) if tie_weights else dict(parameters_and_buffers)
    if strict:
        own = {n for n, _ in [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]}
        problems = [("Unexpected key(s): %s.", [k for k in given if k not in own]), ("Missing key(s): %s.", [k for k in sorted(own) if k not in given])]
        texts = [text % ", ".join(map(repr, keys)) for text, keys in problems if keys]
        if texts:
            raise RuntimeError("Error(s) in reparametrizing for %s:\n\t%s" % (module._get_name(), "\n\t".join(texts)))
    before = {}
    try:
        for name, tensor in given.items():
            before[name] = _swap(module, name, tensor)
        yield
    finally:
        for name, tensor in before.items():
            now = _swap(module, name, tensor)
            if name in parameters_and_buffers:
                parameters_and_buffers[name] = now


def _functional_call(module, parameters_and_buffers, args=None, kwargs=None, *, tie_weights=True, strict=False):
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with _reparametrize_module(module, parameters_and_buffers, tie_weights, strict):
        return module(*args, **(kwargs or {}))


functional_call = _functional_call
__getattr__ = attribute("torch.nn.utils.stateless")
