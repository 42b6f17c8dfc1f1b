"""Reads native_functions.yaml and derivatives.yaml: PyTorch's schema language, and as much of YAML as they use.
Standard library only, as the build runs it."""
import re


def entries(path):
    """A list of dictionaries; a nested block is a dictionary of its lines."""
    out, block = [], None
    for number, raw in enumerate(open(path), 1):
        line = re.sub(r"(^|\s)#.*$", "", raw.rstrip("\n"))
        if not line.strip():
            continue
        m = re.match(r"(- |    |  )([\w., ]+?):(?: (.*))?$", line)
        if not m:
            raise SystemExit("%s:%d: not understood: %s" % (path, number, raw.strip()))
        indent, key, value = m.groups()
        if indent == "- ":
            out.append({"place": "%s:%d" % (path.rsplit("/", 1)[-1], number)})
        if indent == "    ":
            block[key] = value
        elif value is None:
            block = out[-1][key] = {}
        else:
            out[-1][key] = value
    return out


PLAIN = {"int": "int64_t", "SymInt": "int64_t", "float": "double", "bool": "bool", "ScalarType": "ScalarType", "Layout": "Layout", "Device": "Device",
         "MemoryFormat": "MemoryFormat", "str": "std::string_view", "Storage": "StorageRef"}
HELD = {"std::string_view": "std::string", "std::optional<std::string_view>": "std::optional<std::string>", "Sizes": "SizeVector",
        "std::optional<Sizes>": "std::optional<SizeVector>", "std::span<const std::optional<Tensor>>": "SavedList"}


class Argument:
    def __init__(self, text, keyword):
        m = re.fullmatch(r"(Tensor|[A-Za-z]+)(\((\w+)(?: -> \*)?(!?)\))?(\?)?(\[(\d*)\])?(\?)? (\w+)(?:=(.*))?", text)
        if not m:
            raise SystemExit("argument not understood: " + text)
        self.type, _, self.alias, written, inner, self.list, self.length, outer, self.name, self.default = m.groups()
        self.optional = outer or inner and not self.list
        self.optional_elements = inner and self.list
        self.keyword, self.written = keyword, bool(written)
        self.tensor = self.type == "Tensor"

    @property
    def cpp(self):
        """As kernels take it."""
        if self.tensor:
            if self.list:
                return "std::span<const std::optional<Tensor>>" if self.optional_elements else "std::span<const Tensor>"
            return "const std::optional<Tensor>&" if self.optional else "Tensor&" if self.written else "const Tensor&"
        if self.type == "Scalar":
            return "const std::optional<Scalar>&" if self.optional else "const Scalar&"
        if self.type == "Generator":
            return "const std::optional<GeneratorHandle>&"
        if self.type == "bool" and self.list:
            return "std::array<bool, %s>" % self.length
        if self.list and self.type == "float":
            return "std::optional<std::span<const double>>" if self.optional else "std::span<const double>"
        if self.list:
            return "std::optional<Sizes>" if self.optional else "Sizes"
        return "std::optional<%s>" % PLAIN[self.type] if self.optional else PLAIN[self.type]

    @property
    def held(self):
        """As a node keeps it."""
        plain = self.cpp.removeprefix("const ").removesuffix("&")
        return HELD.get(plain, plain)

    @property
    def cpp_default(self):
        if self.default is None:
            return ""
        words = {"None": "{}", "True": "true", "False": "false", "Mean": "1", "[]": "{}", "long": "ScalarType::Long",
                 "contiguous_format": "MemoryFormat::Contiguous"}
        if self.list and self.default not in words:
            return ""  # a number for every element: no initializer of C++
        return " = " + words.get(self.default, self.default.replace("'", '"'))


def split(text):
    """At commas outside brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += c in "([" and 1 or c in ")]" and -1 or 0
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [p for p in parts + [text[start:].strip()] if p]


class Function:
    """One operator overload."""

    def __init__(self, entry):
        self.place, self.schema = entry["place"], entry["func"]
        m = re.fullmatch(r"(\w+)(?:\.(\w+))?\((.*)\) -> (.*)", self.schema)
        if not m:
            raise SystemExit("%s: schema not understood: %s" % (self.place, self.schema))
        self.base, self.overload, arguments, returns = m.groups()
        self.full = self.base + ("." + self.overload if self.overload else "")
        self.id = self.full.replace(".", "_")
        if self.id == "std":
            self.id = "std_all"  # a name that C++ leaves free
        self.arguments, keyword = [], False
        for part in split(arguments):
            if part == "*":
                keyword = True
            else:
                self.arguments.append(Argument(part, keyword))
        self.returned = split(returns[1:-1]) if returns.startswith("(") else [returns]
        names = [r.split(" ")[-1] if " " in r else None for r in self.returned]
        self.result_names = [n or ("result%d" % i if len(names) > 1 else "result") for i, n in enumerate(names)]
        self.dispatch = {key: kernel for keys, kernel in entry.get("dispatch", {}).items() for key in keys.split(", ")}
        # Kernels that are generated: `like` another operator's kernel, whose results go to the tensors that are written; or a call of another operator.
        self.like, self.calls = entry.get("like"), entry.get("calls")
        if self.like:
            self.dispatch = {"CPU": self.id, **self.dispatch}
        if not self.dispatch:
            self.dispatch = {entry.get("at", "CompositeImplicitAutograd"): self.id}
        self.implicit = "CompositeImplicitAutograd" in self.dispatch
        # A person writes these: the kernel stands in core/autograd under the operator's name.
        autograd = entry.get("autograd", "").split(", ")
        self.manual = "manual" in autograd
        self.autocast = entry.get("autocast")
        self.lazy = [word for word in entry.get("lazy", "").split(", ") if word]
        self.has_view_kernel = "view" in autograd or not self.implicit and "no_view" not in autograd

    @property
    def written(self):
        """What an out= or in-place form gives back, or all that it writes where it gives nothing. What else is written to counts for nothing (rrelu's noise)."""
        marked = [a for a in self.arguments if a.written]
        return [a for a in marked if any("(%s!" % a.alias in r for r in self.returned)] if self.returned else marked

    @property
    def inplace(self):
        return bool(self.written) and self.base.endswith("_") and self.arguments[0].written

    @property
    def out(self):
        return bool(self.written) and not self.inplace

    @property
    def viewed(self):
        """The argument that the result looks at."""
        if self.written or not self.returned or not self.returned[0].startswith("Tensor("):
            return None
        return next((a for a in self.arguments if a.alias), None)

    @property
    def result(self):
        types = [self._result(r) for r in self.returned]
        return "void" if not types else types[0] if len(types) == 1 else "std::tuple<%s>" % ", ".join(types)

    def _result(self, text):
        kind = text.split(" ")[0]
        if kind.startswith("Tensor"):
            if kind.endswith("]"):
                return "std::vector<Tensor>"
            return "Tensor&" if "!" in kind else "Tensor"
        return "Scalar" if kind == "Scalar" else PLAIN[kind]

    def parameters(self, defaults=False):
        last = max([i for i, a in enumerate(self.arguments) if not a.cpp_default], default=-1)  # C++ has them at the end only
        return ", ".join("%s %s%s" % (a.cpp, a.name, a.cpp_default if defaults and i > last else "") for i, a in enumerate(self.arguments))

    @property
    def names(self):
        return ", ".join(a.name for a in self.arguments)

    @property
    def types(self):
        return ", ".join(a.cpp for a in self.arguments)

    @property
    def chooses_backend(self):
        """BackendSelect decides from the options; of `_like` and `new_` functions the tensor does."""
        options = {"dtype", "layout", "device", "pin_memory"} <= {a.name for a in self.arguments}
        return options and not self.base.endswith("_like") and not self.base.startswith(("new_", "_nested_tensor_from"))

    @property
    def sparse(self):
        """Makes a sparse tensor of dense ones: composite or not, the options count."""
        return self.base.lstrip("_").startswith("sparse_")


ATTRIBUTES = {"sizes": "SizeVector", "strides": "SizeVector", "dtype": "ScalarType", "numel": "int64_t", "offset": "int64_t"}


class Derivative:
    """A node class: which gradients it gives and what it keeps for that."""

    def __init__(self, entry, functions):
        self.place, schema = entry["place"], entry["name"]
        self.function = next((f for f in functions if f.schema == schema), None)
        if not self.function:
            raise SystemExit("%s: no such operator: %s" % (self.place, schema))
        self.condition = entry.get("condition")
        self.kept = {}      # name -> (kind, C++ type, expression)
        self.not_differentiable = [k for k, v in entry.items() if v == "not_differentiable"]
        given = {}          # argument -> (all arguments of its formula, formula)
        for names, formula in entry.items():
            together = names.split(", ")
            if formula != "not_differentiable" and all(any(a.name == n and a.tensor for a in self.function.arguments) for n in together):
                given.update((n, (together, formula)) for n in together)
        self.inputs = [a for a in self.function.arguments if a.name in given]
        order = [a.name for a in self.inputs]
        self.formulas = []  # (numbers of the inputs that it is for, formula with kept names, names kept)
        for a in self.inputs:
            together, formula = given[a.name]
            if together[0] == a.name:
                self.formulas.append(([order.index(n) for n in together], *self._keep(formula)))
        # Of forward-mode AD: result -> formula over the tangents (`self_t`) and primals (`self_p`) of the arguments.
        self.forward = {name: self._forward(entry[name], given) for name in self.function.result_names if name in entry}
        # Which outputs have gradients, where not the first alone or all that aren't whole numbers.
        self.outputs = [self.function.result_names.index(n) for n in entry.get("differentiable", "").split(", ") if n]
        # Every output has a gradient only where a formula says so.
        self.all_outputs = any(re.search(r"\bgrads\b", formula) for _, formula, _ in self.formulas)
        words = "".join(w[0].upper() + w[1:] for w in re.sub(r"(?<=\d)([a-z])", r"_\1", re.sub("_forward$", "", self.function.base.strip("_"))).split("_"))
        self.at = entry.get("at")  # the key that it is for alone
        self.name = words + "Backward" + (self.at or "")  # numbered later

    def _forward(self, formula, given):
        if formula == "auto_linear":
            names = {a.name for a in self.inputs}
            return "ops::%s::call(%s)" % (self.function.id, ", ".join(a.name + "_t" if a.name in names and not a.list else a.name for a in self.function.arguments))
        if formula == "auto_element_wise":  # the tangent goes through what backward multiplies the gradient with
            name = self.inputs[0].name
            formula = re.sub(r"\bgrad\b", name + "_t", given[name][1])
            formula = re.sub(r"\b%s\b(?!_|\.(?:%s)\()" % (name, "|".join(ATTRIBUTES)), name + "_p", formula)
        for name in self.function.result_names:
            formula = re.sub(r"\b%s\b(?!_)" % name, "std::get<%d>(result)" % self.function.result_names.index(name) if len(self.function.result_names) > 1 else name, formula)
        return formula

    def _keep(self, formula):
        used = []

        def attribute(m):
            name = m.group(1) + "_" + m.group(2)
            kind = ATTRIBUTES[m.group(2)]
            self.kept[name] = ("value", "std::vector<%s>" % kind if m.group(1) in lists else kind, "kept_%s(%s)" % (m.group(2), m.group(1)))
            used.append(name)
            return name
        tensors = [a.name for a in self.function.arguments if a.tensor]
        lists = [a.name for a in self.function.arguments if a.tensor and a.list]
        results = self.function.result_names
        pattern = r"\b(%s)\.(%s)\(\)" % ("|".join(tensors + results), "|".join(ATTRIBUTES))
        formula = re.sub(pattern, attribute, formula)
        for a in self.function.arguments:
            if re.search(r"(?<![.\w])%s\b(?!\()" % a.name, formula):
                kind = "tensor" if a.tensor and not a.list else "list" if a.tensor else "value"
                self.kept[a.name] = (kind, a.held, a.name)
                used.append(a.name)
        for i, name in enumerate(results):
            if re.search(r"\b%s\b(?!_)" % name, formula):
                self.kept[name] = ("result", "Tensor", "result" if len(results) == 1 else "std::get<%d>(result)" % i)
                used.append(name)
        return formula, used


def load(native, derivatives):
    functions = [Function(e) for e in entries(native)]
    table, count = {}, {}
    for e in entries(derivatives):
        d = Derivative(e, functions)
        number = int(e.get("number", count.get(d.name, 0)))
        count[d.name] = number + 1
        d.name += str(number)
        viewed = next((v for v in table.values() if v.function.viewed and v.function.base + "_copy" == d.function.base and v.function.overload == d.function.overload), None)
        if viewed:  # a copy of what a view sees goes by the view's node
            d.name = viewed.name + "_copy"
        table[d.function.full + (" at " + d.at if d.at else "")] = d
    return functions, table


def batch_rules(path):
    """[(operator, kind, words in its brackets, dispatch key)]"""
    out = []
    for e in entries(path):
        for one in split(e["of"]):
            name, _, words = one.partition("(")
            out.append((name, e["rule"], split(words.rstrip(")")), e.get("at", "FuncTorchBatched")))
    return out
