"""Which operators ran, and how long. Times are those of the embedded engine's kernels, not of PyTorch's."""
import functools

from .. import _C
from .._missing import attribute
from .._ops import ops
from .profiler_util import EventList, FunctionEvent, FunctionEventAvg, events_of  # noqa: F401


class record_function:
    """A span with a name; also a decorator."""

    def __init__(self, name, args=None):
        self.name, self.args, self._open = name, args, []

    def __enter__(self):
        self._open.append(ops.profiler._record_function_enter_new(self.name, self.args))
        return self

    def __exit__(self, *error):
        ops.profiler._record_function_exit._RecordFunction(self._open.pop())

    def __call__(self, function):
        @functools.wraps(function)
        def within(*args, **kwargs):
            with self:
                return function(*args, **kwargs)
        return within


class profile:
    def __init__(self, enabled=True, *, use_cuda=False, use_device=None, record_shapes=False, with_flops=False, profile_memory=False, with_stack=False, with_modules=False,
                 use_kineto=True, use_cpu=True, experimental_config=None, acc_events=False, custom_trace_id_callback=None):
        self.enabled, self.record_shapes, self.profile_memory, self.with_flops, self.with_stack = enabled, record_shapes or with_flops, profile_memory, with_flops, with_stack
        self.entered, self._events = False, None

    def __enter__(self):
        if not self.enabled:
            return self
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        self.entered = True
        _C._start_profiler(self.record_shapes, self.profile_memory, self.with_flops)
        return self

    def __exit__(self, *error):
        if self.enabled:
            self._events = events_of(_C._stop_profiler(), self.record_shapes, self.profile_memory, self.with_flops)
        return False

    @property
    def function_events(self):
        if self._events is None:
            raise RuntimeError("Profiler didn't finish running")
        return self._events

    def __repr__(self):
        return "<unfinished torch.autograd.profile>" if self._events is None else repr(self._events)

    def __str__(self):
        return "<unfinished torch.autograd.profile>" if self._events is None else str(self._events)

    def table(self, sort_by=None, row_limit=100, **options):
        return self.function_events.table(sort_by=sort_by, row_limit=row_limit, **options)

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False):
        return self.function_events.key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def total_average(self):
        return self.function_events.total_average()

    def export_chrome_trace(self, path, **options):
        self.function_events.export_chrome_trace(path)

    @property
    def self_cpu_time_total(self):
        return self.function_events.self_cpu_time_total


__getattr__ = attribute("torch.autograd.profiler")
