# Compare several torch.optim optimizers on the Rosenbrock function, LBFGS with closure included.
import torch


def rosenbrock(p, a=1.0, b=100.0):
    x, y = p[0], p[1]
    return (a - x) ** 2 + b * (y - x ** 2) ** 2


def run(name, make_opt, steps):
    p = torch.tensor([-1.2, 1.0], requires_grad=True)
    opt = make_opt([p])
    path = [p.detach().clone()]
    for _ in range(steps):
        opt.zero_grad()
        loss = rosenbrock(p)
        loss.backward()
        opt.step()
        path.append(p.detach().clone())
    path = torch.stack(path)
    length = path.diff(dim=0).norm(dim=1).sum()
    print(f"{name:10s} f = {rosenbrock(p).item():9.4f}  p = ({p[0].item():+.4f}, {p[1].item():+.4f})  path {length.item():.4f}")
    return opt


run("sgd", lambda ps: torch.optim.SGD(ps, lr=5e-4), 6)
run("momentum", lambda ps: torch.optim.SGD(ps, lr=5e-4, momentum=0.9), 6)
run("nesterov", lambda ps: torch.optim.SGD(ps, lr=5e-4, momentum=0.9, nesterov=True), 6)
adam = run("adam", lambda ps: torch.optim.Adam(ps, lr=0.05), 6)
run("adagrad", lambda ps: torch.optim.Adagrad(ps, lr=0.2), 6)
run("rprop", lambda ps: torch.optim.Rprop(ps, lr=0.01), 5)

state = adam.state_dict()
print("adam state keys:", sorted(state["state"][0].keys()))
print("exp_avg:", state["state"][0]["exp_avg"], "step:", state["state"][0]["step"])

# LBFGS wants a closure
p = torch.tensor([-1.2, 1.0], dtype=torch.float64, requires_grad=True)
lbfgs = torch.optim.LBFGS([p], lr=1, max_iter=3, history_size=5, line_search_fn="strong_wolfe")
calls = 0


def closure():
    global calls
    calls += 1
    lbfgs.zero_grad()
    loss = rosenbrock(p)
    loss.backward()
    return loss


for outer in range(2):
    loss = lbfgs.step(closure)
    print(f"lbfgs outer {outer}: start loss {loss.item():.4f}, now {rosenbrock(p).item():.4f}, calls {calls}")

# Newton's method for comparison
q = torch.tensor([-1.2, 1.0], dtype=torch.float64)
for i in range(3):
    g = torch.autograd.functional.jacobian(rosenbrock, q)
    Hm = torch.autograd.functional.hessian(rosenbrock, q)
    q = q - torch.linalg.solve(Hm, g)
    print("newton", i, [round(v, 4) for v in q.tolist()], f"{rosenbrock(q).item():.4f}")
