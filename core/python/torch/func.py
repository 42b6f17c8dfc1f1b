"""torch.func: transforms of functions."""
from ._functorch.apis import grad, grad_and_value, vmap  # noqa: F401
from ._functorch.eager_transforms import debug_unwrap, jacrev, vjp  # noqa: F401
from ._functorch.forward_transforms import hessian, jacfwd, jvp  # noqa: F401
from ._functorch.functional_call import functional_call, stack_module_state  # noqa: F401
from ._missing import attribute

__getattr__ = attribute("torch.func")
