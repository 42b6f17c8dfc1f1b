"""torch.autograd.Function."""
from .._missing import missing


class Function:
    def __init__(self, *args, **kwargs):
        raise RuntimeError("%s should not be instantiated. Methods on autograd functions are all static, so you should invoke them on the class itself."
                           % type(self).__name__)

    @classmethod
    def apply(cls, *args, **kwargs):
        missing("torch.autograd.Function")
