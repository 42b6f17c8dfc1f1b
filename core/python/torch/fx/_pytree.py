"""What traced functions with nested arguments call first: the arguments' leaves, by the shape that they had in tracing."""


def tree_flatten_spec(pytree, spec):
    if spec.is_leaf():
        return [pytree]
    if spec.type is tuple or spec.type is list:
        parts = [pytree[i] for i in range(spec.num_children)]
    elif isinstance(pytree, dict):
        keys = spec.context if isinstance(spec.context, list) and len(spec.context) == spec.num_children else list(pytree)
        parts = [pytree[k] for k in keys]
    elif isinstance(pytree, tuple):
        parts = list(pytree)
    else:
        raise RuntimeError("%s does not have a flatten_fn_spec associated with it. Please register one with torch.fx._pytree.register_pytree_flatten_spec.  If you have serialized your model, "
                           "make sure that any custom pytrees have been registered before loading it." % type(pytree))
    return [leaf for part, child in zip(parts, spec.children()) for leaf in tree_flatten_spec(part, child)]
