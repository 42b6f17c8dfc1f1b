"""torch.autograd.Function."""
from .. import _C


class FunctionCtx:
    """What forward leaves for backward."""

    def __init__(self):
        self._to_save, self._dirty, self._plain, self._materialize = (), (), (), True

    def save_for_backward(self, *tensors):
        self._to_save = tensors

    def save_for_forward(self, *tensors):
        """Forward-mode derivatives are not computed."""

    def mark_dirty(self, *args):
        self._dirty = args

    def mark_non_differentiable(self, *args):
        self._plain = args

    def set_materialize_grads(self, value):
        self._materialize = value

    @property
    def saved_tensors(self):
        return self._node.saved()


class Function(FunctionCtx):
    def __init__(self, *args, **kwargs):
        raise RuntimeError("%s should not be instantiated. Methods on autograd functions are all static, so you should invoke them on the class itself."
                           % type(self).__name__)

    @staticmethod
    def forward(*args, **kwargs):
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx, inputs, output):
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        raise NotImplementedError("You must implement either the backward or vjp method for your custom autograd.Function to use it with backward mode AD.")

    vjp = backward

    generate_vmap_rule = False

    @staticmethod
    def vmap(info, in_dims, *args):
        raise NotImplementedError("To use autograd.Function with vmap, you must either override the vmap staticmethod or set generate_vmap_rule=True.")

    @classmethod
    def apply(cls, *args, **kwargs):
        if kwargs:
            raise TypeError("apply() takes no keyword arguments")
        if _C._functorch.maybe_current_level() is None:
            return cls._apply_once(*args)
        if cls.setup_context is Function.setup_context:
            raise RuntimeError("In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must override the setup_context "
                               "staticmethod. For more details, please see https://pytorch.org/docs/main/notes/extending.func.html")
        from .._functorch.autograd_function import custom_function_call
        return custom_function_call(cls, *args)

    @classmethod
    def _apply_once(cls, *args, _forward=None, _name=None):
        """At one level of transforms, or outside of all."""
        ctx = FunctionCtx()
        ctx._backward = lambda *grads: (cls.backward if cls.backward is not Function.backward else cls.vjp)(ctx, *grads)
        if _forward is not None:
            forward = _forward
        elif cls.setup_context is Function.setup_context:
            forward = cls.forward
        else:
            def forward(ctx, *args):
                output = cls.forward(*args)
                cls.setup_context(ctx, args, output)
                return output
        return _C._apply_function((_name or cls.__name__) + "Backward", ctx, args, forward)


def once_differentiable(backward):
    """Its gradients have no graph."""
    from .modes import no_grad

    def once(ctx, *grads):
        with no_grad():
            return backward(ctx, *grads)
    return once
