"""torch.profiler: profiles of chosen steps of a program."""
import enum
import os
import socket
import time

from .._missing import attribute
from ..autograd import profiler as _autograd
from ..autograd.profiler import record_function

ProfilerActivity = enum.Enum("ProfilerActivity", "CPU XPU MTIA CUDA HPU PrivateUse1", start=0, module="torch._C._profiler")


class ProfilerAction(enum.Enum):
    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def supported_activities():
    return {ProfilerActivity.CPU}


def schedule(*, wait, warmup, active, repeat=0, skip_first=0, skip_first_wait=0):
    if not (wait >= 0 and warmup >= 0 and active > 0 and repeat >= 0 and skip_first >= 0):
        raise AssertionError("Invalid profiler schedule arguments. Got wait=%d (need >= 0), warmup=%d (need >= 0), active=%d (need > 0), repeat=%d (need >= 0), skip_first=%d "
                             "(need >= 0)." % (wait, warmup, active, repeat, skip_first))
    length = wait + warmup + active

    def action(step):
        if step < 0:
            raise AssertionError("Step must be non-negative. Got %d." % step)
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait:
            step += wait
        if repeat > 0 and step // length >= repeat:
            return ProfilerAction.NONE
        step %= length
        if step < wait:
            return ProfilerAction.NONE
        if step < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if step < length - 1 else ProfilerAction.RECORD_AND_SAVE
    return action


def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False):
    def handler(prof):
        os.makedirs(dir_name, exist_ok=True)
        worker = worker_name or "%s_%d" % (socket.gethostname(), os.getpid())
        prof.export_chrome_trace(os.path.join(dir_name, "%s.%d.pt.trace.json" % (worker, time.time_ns())))
    return handler


class profile:
    def __init__(self, *, activities=None, schedule=None, on_trace_ready=None, record_shapes=False, profile_memory=False, with_stack=False, with_flops=False, with_modules=False,
                 experimental_config=None, execution_trace_observer=None, acc_events=False, use_cuda=None, custom_trace_id_callback=None):
        self.activities = set(activities) if activities is not None else supported_activities()
        if not self.activities:
            raise AssertionError("No valid profiler activities found")
        self.schedule, self._steps = schedule or (lambda step: ProfilerAction.RECORD), schedule is not None
        self.on_trace_ready, self.step_num, self.current_action = on_trace_ready, 0, ProfilerAction.NONE
        self._options = {"record_shapes": record_shapes, "profile_memory": profile_memory, "with_flops": with_flops, "with_stack": with_stack}
        self.profiler, self.step_rec_fn, self._running = None, None, False

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self.stop()

    def _recording(self):
        return self.current_action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)

    def _begin(self):
        self.profiler = _autograd.profile(**self._options)
        self.profiler.__enter__()
        self._running = True

    def _end(self):
        if self._running:
            self.profiler.__exit__(None, None, None)
            self._running = False

    def _open_step(self):
        if self._steps:
            self.step_rec_fn = record_function("ProfilerStep#%d" % self.step_num)
            self.step_rec_fn.__enter__()

    def _close_step(self):
        if self.step_rec_fn is not None:
            self.step_rec_fn.__exit__(None, None, None)
            self.step_rec_fn = None

    def start(self):
        self.current_action = self.schedule(self.step_num)
        if self._recording():
            self._begin()
        self._open_step()

    def stop(self):
        self._close_step()
        was = self._recording()
        self._end()
        self.current_action = ProfilerAction.NONE
        if was and self.on_trace_ready:
            self.on_trace_ready(self)

    def step(self):
        self._close_step()
        before, self.step_num = self.current_action, self.step_num + 1
        self.current_action = self.schedule(self.step_num)
        if before is ProfilerAction.RECORD_AND_SAVE:
            self._end()
            if self.on_trace_ready:
                self.on_trace_ready(self)
        if self._recording() and not self._running:
            self._begin()
        elif not self._recording():
            self._end()
        self._open_step()

    def events(self):
        if self.profiler is None:
            raise AssertionError("Profiler must be initialized before accessing events")
        return self.profiler.function_events

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False):
        if self.profiler is None:
            raise AssertionError("Profiler must be initialized before getting key averages")
        return self.profiler.key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def export_chrome_trace(self, path):
        if self.profiler is None:
            raise AssertionError("Profiler must be initialized before exporting chrome trace")
        self.profiler.export_chrome_trace(path)

    def add_metadata(self, key, value):
        """Kept by nothing: traces hold events only."""

    add_metadata_json = add_metadata


__getattr__ = attribute("torch.profiler")
