"""Generators of random numbers: the process's, and those that a program makes."""
from . import _C
from ._missing import attribute


class Generator(_C.GeneratorBase):
    def __init__(self, device="cpu", _default=False):
        from ._missing import missing
        if str(_C.device(device) if isinstance(device, str) else device) != "cpu":
            missing("torch.Generator(%r)" % (device,))
        super().__init__(_default)
        self._seed, self.device = 67280421310721, _C.device("cpu")  # PyTorch's

    def manual_seed(self, seed):
        self._seed = int(seed)
        self._set_seed(self._seed & 0xFFFFFFFFFFFFFFFF)
        return self

    def initial_seed(self):
        return self._seed

    def seed(self):
        import os
        return self.manual_seed(int.from_bytes(os.urandom(8), "little"))._seed

    def get_state(self):
        return self._state(self._seed & 0xFFFFFFFFFFFFFFFF)

    def set_state(self, state):
        if not isinstance(state, _C.TensorBase):
            raise TypeError("expected a torch.ByteTensor, but got %s" % type(state).__name__)
        if state.dtype is not _C.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        self._seed = self._set_state(state.contiguous())
        return self

    def clone_state(self):
        kept = Generator()
        kept._copy_from(self)
        kept._seed = self._seed
        return kept


def thread_safe_generator():
    return None  # outside of a data loader's threads


default_generator = Generator(_default=True)


def manual_seed(seed):
    return default_generator.manual_seed(seed)


def initial_seed():
    return default_generator.initial_seed()


def seed():
    return default_generator.seed()


def get_rng_state():
    return default_generator.get_state()


def set_rng_state(state):
    default_generator.set_state(state)


class fork_rng:
    """What runs inside leaves the process's generator as it was."""

    def __init__(self, devices=None, enabled=True):
        self._enabled = enabled

    def __enter__(self):
        self._state = get_rng_state() if self._enabled else None

    def __exit__(self, *error):
        if self._state is not None:
            set_rng_state(self._state)


__getattr__ = attribute("torch.random")
