"""L-BFGS, with a line search by the strong Wolfe conditions where it is asked for."""
from .. import _C
from ..autograd.modes import enable_grad, no_grad
from .optimizer import Optimizer


def _lowest_of_cubic(x1, f1, g1, x2, f2, g2, bounds=None):
    """Where the cubic through two points with these slopes is lowest."""
    low, high = bounds if bounds is not None else (x1, x2) if x1 <= x2 else (x2, x1)
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1 ** 2 - g1 * g2
    if not square >= 0:
        return (low + high) / 2.0
    d2 = square.sqrt()
    if x1 <= x2:
        at = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
    else:
        at = x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2))
    return min(max(at, low), high)


def _kept(t):
    return t.clone(memory_format=_C.contiguous_format)


class _Search:
    """Brackets a step that fulfils the conditions, then narrows the bracket down."""

    def __init__(self, evaluate, x, t, d, f, g, gtd, c1=1e-4, c2=0.9, tolerance_change=1e-9, max_ls=25):
        self.evaluate, self.x, self.d, self.f, self.gtd = evaluate, x, d, f, gtd
        self.c1, self.c2, self.tolerance, self.most = c1, c2, tolerance_change, max_ls
        self.norm = d.abs().max()
        self.g = _kept(g)
        self.evals = self.iteration = 0
        self.at(t)

    def at(self, t):
        self.t = t
        self.f_new, self.g_new = self.evaluate(self.x, t, self.d)
        self.evals += 1
        self.gtd_new = self.g_new.dot(self.d)

    def bracket(self):
        """[(t, f, g, gtd), ...], and whether the first of them is the step already."""
        before = (0, self.f, self.g, self.gtd)
        while self.iteration < self.most:
            if self.f_new > self.f + self.c1 * self.t * self.gtd or (self.iteration > 1 and self.f_new >= before[1]):
                return [before, (self.t, self.f_new, _kept(self.g_new), self.gtd_new)], False
            if abs(self.gtd_new) <= -self.c2 * self.gtd:
                return [(self.t, self.f_new, self.g_new, self.gtd_new)], True
            if self.gtd_new >= 0:
                return [before, (self.t, self.f_new, _kept(self.g_new), self.gtd_new)], False
            least, most = self.t + 0.01 * (self.t - before[0]), self.t * 10
            t = _lowest_of_cubic(before[0], before[1], before[3], self.t, self.f_new, self.gtd_new, bounds=(least, most))
            before = (self.t, self.f_new, _kept(self.g_new), self.gtd_new)
            self.at(t)
            self.iteration += 1
        return [(0, self.f, self.g, self.gtd), (self.t, self.f_new, self.g_new, self.gtd_new)], False

    def inside(self, ends, stuck):
        """(a step inside of the bracket, whether the search is stuck near one of its ends)"""
        times = [e[0] for e in ends]
        t = _lowest_of_cubic(ends[0][0], ends[0][1], ends[0][3], ends[1][0], ends[1][1], ends[1][3])
        margin = 0.1 * (max(times) - min(times))
        if min(max(times) - t, t - min(times)) < margin:
            if stuck or t >= max(times) or t <= min(times):
                return (max(times) - margin if abs(t - max(times)) < abs(t - min(times)) else min(times) + margin), False
            return t, True
        return t, False

    def run(self):
        ends, done = self.bracket()
        stuck = False
        low, high = (0, 1) if ends[0][1] <= ends[-1][1] else (1, 0)
        while not done and self.iteration < self.most:
            if abs(ends[1][0] - ends[0][0]) * self.norm < self.tolerance:
                break
            t, stuck = self.inside(ends, stuck)
            self.at(t)
            self.iteration += 1
            if self.f_new > self.f + self.c1 * t * self.gtd or self.f_new >= ends[low][1]:
                ends[high] = (t, self.f_new, _kept(self.g_new), self.gtd_new)
                low, high = (0, 1) if ends[0][1] <= ends[1][1] else (1, 0)
            else:
                if abs(self.gtd_new) <= -self.c2 * self.gtd:
                    done = True
                elif self.gtd_new * (ends[high][0] - ends[low][0]) >= 0:
                    ends[high] = ends[low]
                ends[low] = (t, self.f_new, _kept(self.g_new), self.gtd_new)
        t, f, g, _ = ends[low]
        return f, g, t, self.evals


class LBFGS(Optimizer):
    def __init__(self, params, lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-7, tolerance_change=1e-9, history_size=100, line_search_fn=None):
        if not 0.0 <= lr:
            raise ValueError("Invalid learning rate: %s" % lr)
        super().__init__(params, dict(lr=lr, max_iter=max_iter, max_eval=max_iter * 5 // 4 if max_eval is None else max_eval, tolerance_grad=tolerance_grad,
                                      tolerance_change=tolerance_change, history_size=history_size, line_search_fn=line_search_fn))
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    def _gather_flat_grad(self):
        return _C._VariableFunctions.cat([p.new(p.numel()).zero_() if p.grad is None else p.grad.view(-1) for p in self._params], 0)

    def _add_grad(self, step_size, update):
        offset = 0
        for p in self._params:
            p.add_(update[offset:offset + p.numel()].view_as(p), alpha=step_size)
            offset += p.numel()

    def _directional_evaluate(self, closure, x, t, d):
        self._add_grad(t, d)
        loss = float(closure())
        flat_grad = self._gather_flat_grad()
        for p, data in zip(self._params, x):
            p.copy_(data)
        return loss, flat_grad

    def _direction(self, state, flat_grad, d, t, history_size):
        """Where to go: down the gradient at first, later by what was learned of the curvature."""
        state["n_iter"] += 1
        if state["n_iter"] == 1:
            state["old_dirs"], state["old_stps"], state["ro"], state["H_diag"] = [], [], [], 1
            return flat_grad.neg()
        dirs, steps, ro = state["old_dirs"], state["old_stps"], state["ro"]
        y = flat_grad.sub(state["prev_flat_grad"])
        s = d.mul(t)
        ys = y.dot(s)
        if ys > 1e-10:
            if len(dirs) == history_size:
                for old in (dirs, steps, ro):
                    old.pop(0)
            dirs.append(y)
            steps.append(s)
            ro.append(1.0 / ys)
            state["H_diag"] = ys / y.dot(y)
        al = state.setdefault("al", [None] * history_size)
        q = flat_grad.neg()
        for i in range(len(dirs) - 1, -1, -1):
            al[i] = steps[i].dot(q) * ro[i]
            q.add_(dirs[i], alpha=-al[i])
        r = _C._VariableFunctions.mul(q, state["H_diag"])
        for i in range(len(dirs)):
            be = dirs[i].dot(r) * ro[i]
            r.add_(steps[i], alpha=al[i] - be)
        return r

    def _moved(self, closure, t, d, loss, flat_grad, gtd, evals_left, last):
        """(loss, gradient, step, number of evaluations, whether the gradient is small enough)"""
        group, found = self.param_groups[0], False
        evals = 0
        if group["line_search_fn"] is not None:
            if group["line_search_fn"] != "strong_wolfe":
                raise RuntimeError("only 'strong_wolfe' is supported")
            x = [_kept(p) for p in self._params]
            loss, flat_grad, t, evals = _Search(lambda x, t, d: self._directional_evaluate(closure, x, t, d), x, t, d, loss, flat_grad, gtd, max_ls=evals_left).run()
            self._add_grad(t, d)
            found = flat_grad.abs().max() <= group["tolerance_grad"]
        else:
            self._add_grad(t, d)
            if not last:
                loss = float(closure())
                flat_grad = self._gather_flat_grad()
                found = flat_grad.abs().max() <= group["tolerance_grad"]
                evals = 1
        return loss, flat_grad, t, evals, found

    @no_grad()
    def step(self, closure):
        closure = enable_grad()(closure)
        group = self.param_groups[0]
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first_loss = closure()
        loss = float(first_loss)
        evals = 1
        state["func_evals"] += 1
        flat_grad = self._gather_flat_grad()
        found = flat_grad.abs().max() <= group["tolerance_grad"]
        if found:
            return first_loss
        d, t = state.get("d"), state.get("t")
        prev_loss, n = state.get("prev_loss"), 0
        while n < group["max_iter"]:
            n += 1
            d = self._direction(state, flat_grad, d, t, group["history_size"])
            if state.get("prev_flat_grad") is None:
                state["prev_flat_grad"] = _kept(flat_grad)
            else:
                state["prev_flat_grad"].copy_(flat_grad)
            prev_loss = loss
            t = min(1.0, 1.0 / flat_grad.abs().sum()) * group["lr"] if state["n_iter"] == 1 else group["lr"]
            gtd = flat_grad.dot(d)
            if gtd > -group["tolerance_change"]:
                break
            loss, flat_grad, t, more, moved = self._moved(closure, t, d, loss, flat_grad, gtd, group["max_eval"] - evals, n == group["max_iter"])
            found = moved if more else found
            evals += more
            state["func_evals"] += more
            if n == group["max_iter"] or evals >= group["max_eval"] or found:
                break
            if d.mul(t).abs().max() <= group["tolerance_change"] or abs(loss - prev_loss) < group["tolerance_change"]:
                break
        state["d"], state["t"], state["prev_loss"] = d, t, prev_loss
        return first_loss
