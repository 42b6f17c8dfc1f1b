"""no_grad, enable_grad, set_grad_enabled, inference_mode: as contexts and as decorators."""
import functools
import inspect

from .. import _C


class _Mode:
    """A context of which each call of a decorated function gets one of its own."""

    def _again(self):
        return type(self)()

    def __call__(self, function):
        if inspect.isclass(function):
            raise RuntimeError("Cannot decorate classes; it is ambiguous whether or not only the constructor or all methods should have the context manager applied")
        if inspect.isgeneratorfunction(function):
            @functools.wraps(function)
            def generator(*args, **kwargs):
                made = function(*args, **kwargs)
                value, method = None, made.send
                while True:
                    try:
                        with self._again():
                            out = method(value)
                    except StopIteration as stop:
                        return stop.value
                    try:
                        value, method = (yield out), made.send
                    except GeneratorExit:
                        with self._again():
                            made.close()
                        raise
                    except BaseException as e:
                        value, method = e, made.throw
            return generator

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            with self._again():
                return function(*args, **kwargs)
        return wrapper


class _Grad(_Mode):
    on = False

    def __new__(cls, function=None):
        mode = object.__new__(cls)
        return mode if function is None else mode(function)  # @no_grad without brackets

    def __enter__(self):
        self._before = _C.is_grad_enabled()
        _C._set_grad_enabled(self.on)

    def __exit__(self, *error):
        _C._set_grad_enabled(self._before)


class no_grad(_Grad):
    pass


class enable_grad(_Grad):
    on = True


class set_grad_enabled(_Mode):
    """In force from when it is made."""

    def __init__(self, mode):
        self._before = _C.is_grad_enabled()
        self.mode = mode
        _C._set_grad_enabled(mode)

    def __call__(self, function):
        _C._set_grad_enabled(self._before)
        return super().__call__(function)

    def _again(self):
        return set_grad_enabled(self.mode)

    def __enter__(self):
        _C._set_grad_enabled(self.mode)

    def __exit__(self, *error):
        _C._set_grad_enabled(self._before)


class inference_mode(_Mode):
    def __new__(cls, mode=True):
        made = object.__new__(cls)
        if isinstance(mode, bool):
            return made
        made.mode = True  # @inference_mode without brackets
        return made(mode)

    def __init__(self, mode=True):
        self.mode = mode

    def _again(self):
        return inference_mode(self.mode)

    def __enter__(self):
        self._context = _C._InferenceMode(self.mode)
        self._context.__enter__()

    def __exit__(self, *error):
        self._context.__exit__(*error)
