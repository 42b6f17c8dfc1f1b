"""What a profiler saw: events, what they add up to, and the tables that people read."""
import enum
import json
from collections import OrderedDict

from .._missing import attribute, missing


DeviceType = enum.Enum("DeviceType", "CPU CUDA", start=0)


def _format_time(us):
    if us >= 1e6:
        return "%.3fs" % (us / 1e6)
    return "%.3fms" % (us / 1e3) if us >= 1e3 else "%.3fus" % us


def _format_time_share(us, total):
    return "NaN" if total == 0 else "%.2f%%" % (us * 100.0 / total)


def _format_memory(nbytes):
    for size, name in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")):
        if abs(nbytes) >= size:
            return "%.2f %s" % (nbytes / size, name)
    return "%d B" % nbytes


class Interval:
    def __init__(self, start, end):
        self.start, self.end = start, end

    def elapsed_us(self):
        return self.end - self.start


class _Times:
    """Times in microseconds, and as text; nothing runs on another device."""
    device_time_total = self_device_time_total = device_memory_usage = self_device_memory_usage = 0
    use_device, is_async, is_remote, is_legacy, is_user_annotation, node_id = None, False, False, False, False, -1

    @property
    def cpu_time(self):
        return self.cpu_time_total / self.count if self.count else 0.0

    device_time = property(lambda self: 0.0)
    cpu_time_str = property(lambda self: _format_time(self.cpu_time))
    cpu_time_total_str = property(lambda self: _format_time(self.cpu_time_total))
    self_cpu_time_total_str = property(lambda self: _format_time(self.self_cpu_time_total))


class FunctionEvent(_Times):
    def __init__(self, id, name, overload_name, thread, start_us, end_us, input_shapes, sequence_nr, bytes, flops):  # noqa: A002
        self.id, self.trace_name, self.overload_name, self.thread, self.fwd_thread = id, name, overload_name, thread, None
        self.name = "ProfilerStep*" if name.startswith("ProfilerStep#") else name
        self.time_range, self.count, self.kernels, self.stack, self.scope = Interval(start_us, end_us), 1, [], [], 0
        self.input_shapes, self.sequence_nr, self.flops, self._bytes = input_shapes, sequence_nr, flops, bytes
        self.cpu_children, self.cpu_parent = [], None
        self.device_type, self.device_index = DeviceType.CPU, -1

    def append_cpu_child(self, child):
        self.cpu_children.append(child)

    def set_cpu_parent(self, parent):
        self.cpu_parent = parent

    @property
    def key(self):
        return self.name

    @property
    def cpu_time_total(self):
        return self.time_range.elapsed_us()

    @property
    def self_cpu_time_total(self):
        return self.cpu_time_total - sum(c.cpu_time_total for c in self.cpu_children)

    @property
    def self_cpu_memory_usage(self):
        return self._bytes

    @property
    def cpu_memory_usage(self):
        return self._bytes + sum(c.cpu_memory_usage for c in self.cpu_children)

    def __repr__(self):
        return "<FunctionEvent id=%s name=%s overload_name=%s device_type=%s node_id=%s cpu_time=%s start_us=%s end_us=%s cpu_children=%s thread=%s input_shapes=%s>" % (
            self.id, self.name, self.overload_name, self.device_type, self.node_id, self.cpu_time_str, self.time_range.start, self.time_range.end,
            [c.id for c in self.cpu_children], self.thread, self.input_shapes)


class FunctionEventAvg(_Times):
    def __init__(self):
        self.key, self.count, self.overload_name, self.input_shapes, self.stack, self.scope = None, 0, "", None, None, None
        self.cpu_time_total = self.self_cpu_time_total = self.cpu_memory_usage = self.self_cpu_memory_usage = self.flops = 0
        self.cpu_parent, self.cpu_children, self.device_type = None, None, DeviceType.CPU

    def add(self, other):
        if self.key is None:
            for name in ("key", "overload_name", "cpu_parent", "cpu_children", "input_shapes", "stack", "scope", "device_type"):
                setattr(self, name, getattr(other, name))
        for name in ("count", "cpu_time_total", "self_cpu_time_total", "cpu_memory_usage", "self_cpu_memory_usage", "flops"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self

    __iadd__ = add

    def __repr__(self):
        return "<FunctionEventAvg key=%s self_cpu_time=%s cpu_time=%s  self_None_time=0.000us None_time=0.000us input_shapes=%s cpu_memory_usage=%d None_memory_usage=0>" % (
            self.key, self.self_cpu_time_total_str, self.cpu_time_str, str(self.input_shapes), self.cpu_memory_usage)


def _flops(name, shapes, values):
    """Multiplications and additions of the operators whose count PyTorch knows."""
    def product(sizes):
        n = 1
        for s in sizes:
            n *= s
        return n
    try:
        if name in ("aten::add", "aten::mul"):
            return product(shapes[0])
        if name in ("aten::mm", "aten::bmm", "aten::addmm", "aten::baddbmm"):
            a, b = shapes[:2] if name in ("aten::mm", "aten::bmm") else shapes[1:3]
            return 2 * product(a) * b[-1]
        if name == "aten::conv2d":
            x, w = shapes[:2]
            stride, padding, dilation, groups = values[3:7]
            pair = [list(v) * 2 if len(v) == 1 else list(v) for v in (stride, padding, dilation)]
            out = [(x[i + 2] + 2 * pair[1][i] - pair[2][i] * (w[i + 2] - 1) - 1) // pair[0][i] + 1 for i in (0, 1)]
            return 2 * x[0] * product(out) * product(w)
    except (IndexError, TypeError):
        pass
    return 0


class EventList(list):
    def __init__(self, events=(), profile_memory=False, with_flops=False):
        super().__init__(events)
        self._profile_memory, self._with_flops = profile_memory, with_flops

    def __str__(self):
        return self.table()

    @property
    def self_cpu_time_total(self):
        return sum(e.self_cpu_time_total for e in self)

    def table(self, sort_by=None, row_limit=100, max_src_column_width=75, max_name_column_width=55, max_shapes_column_width=80, header=None, top_level_events_only=False,
              time_unit=None):
        return _table(self, sort_by, row_limit, max_name_column_width, max_shapes_column_width, header, top_level_events_only, time_unit)

    def key_averages(self, group_by_input_shapes=False, group_by_stack_n=0, group_by_overload_name=False):
        found = OrderedDict()
        for e in self:
            key = (e.key, e.overload_name if group_by_overload_name else None, str(e.input_shapes) if group_by_input_shapes else None)
            found.setdefault(key, FunctionEventAvg()).add(e)
        for average in found.values():
            if not group_by_input_shapes:
                average.input_shapes = ""
            if not group_by_overload_name:
                average.overload_name = ""
        return EventList(found.values(), self._profile_memory, self._with_flops)

    def total_average(self):
        total = FunctionEventAvg()
        for e in self:
            total.add(e)
            total.key = None
        total.key = "Total"
        return total

    def export_chrome_trace(self, path):
        events = [{"name": e.trace_name, "ph": "X", "cat": "cpu_op", "ts": e.time_range.start, "dur": e.time_range.elapsed_us(), "tid": e.thread, "pid": "CPU functions",
                   "args": {"Input Dims": e.input_shapes} if e.input_shapes else {}} for e in self]
        with open(path, "w") as f:
            json.dump({"schemaVersion": 1, "traceEvents": events}, f)

    def export_stacks(self, path, metric):
        missing("EventList.export_stacks")


def events_of(records, record_shapes, profile_memory, with_flops):
    """FunctionEvents from what the engine recorded, in the order of their begins. An only child of its parent's name is left out."""
    start = min((r[2] for r in records), default=0)
    events = []
    for i, (name, overload, begin, end, thread, parent, sequence, bytes, shapes, values) in enumerate(records):  # noqa: A001
        flops = _flops(name, shapes, values) if with_flops else 0
        events.append(FunctionEvent(i, name, overload, thread, (begin - start) / 1e3, (end - start) / 1e3, shapes if record_shapes else [], sequence, bytes, flops))
        if parent >= 0:
            events[-1].set_cpu_parent(events[parent])
            events[parent].append_cpu_child(events[-1])
    gone = set()
    for e in events:
        p = e.cpu_parent
        if p is not None and p.name == e.name and len(p.cpu_children) == 1:
            p.cpu_children = e.cpu_children
            p._bytes += e._bytes
            for child in e.cpu_children:
                child.set_cpu_parent(p)
            gone.add(e.id)
    return EventList([e for e in events if e.id not in gone], profile_memory, with_flops)


def _table(events, sort_by, row_limit, name_width, shapes_width, header, top_level_events_only, time_unit):
    if not events:
        return ""
    rows = sorted(events, key=lambda e: getattr(e, sort_by.replace("cuda", "device").replace("xpu", "device")), reverse=True) if sort_by is not None else list(events)
    flops = [e.flops for e in rows if e.flops > 0] if events._with_flops else []
    step = min(int(len(str(int(min(flops)))) - 1) // 3, 5) if flops else 0
    widest = max(len(e.key) for e in rows) + 4
    columns = [("Name", widest if name_width is None else min(widest, name_width))] + [(t, 12) for t in ("Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg")]
    columns += [(t, 12) for t in ("CPU Mem", "Self CPU Mem")] if events._profile_memory else []
    columns += [("# of Calls", 12)]
    shaped = any(e.input_shapes for e in rows)
    if shaped:
        widest = max(len(str(e.input_shapes)) for e in rows) + 4
        columns.append(("Input Shapes", widest if shapes_width is None else min(widest, shapes_width)))
    columns += [("Total %sFLOPs" % ("", "K", "M", "G", "T", "P")[step], 12)] if flops else []
    rule = "".join("-" * width + "  " for _, width in columns)
    total = sum(e.self_cpu_time_total for e in rows)

    def text(us):
        return _format_time(us) if time_unit is None else "%.3f%s" % (us / {"s": 1e6, "ms": 1e3, "us": 1.0}[time_unit], time_unit)

    def line(values):
        return "".join("%*s  " % (width, value) for (_, width), value in zip(columns, values))
    out = ["=" * (len(rule) - 2), header] if header is not None else []
    out += ["=" * (len(rule) - 2), "This report only display top-level ops statistics"] if top_level_events_only else []
    out += [rule, line([title for title, _ in columns]), rule]
    if top_level_events_only:
        rows = [e for e in rows if e.cpu_parent is None]
    for e in rows if row_limit < 0 else rows[:row_limit]:
        name = e.key if name_width is None or len(e.key) < name_width - 3 else e.key[:name_width - 3] + "..."
        values = [name, _format_time_share(e.self_cpu_time_total, total), text(e.self_cpu_time_total), _format_time_share(e.cpu_time_total, total), text(e.cpu_time_total),
                  text(e.cpu_time)]
        values += [_format_memory(e.cpu_memory_usage), _format_memory(e.self_cpu_memory_usage)] if events._profile_memory else []
        values.append(e.count)
        values += [str(e.input_shapes)[:columns[len(values)][1]]] if shaped else []
        values += ["--" if e.flops <= 0 else "%8.3f" % (e.flops / 1000 ** step)] if flops else []
        out.append(line(values))
    return "\n".join(out + [rule, "Self CPU time total: " + text(total)]) + "\n"


__getattr__ = attribute("torch.autograd.profiler_util")
