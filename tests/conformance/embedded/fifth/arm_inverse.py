"""Solves the inverse kinematics of a three-joint planar arm with torch.func Jacobians and damped least squares."""
import math
import torch
from torch.func import hessian, jacfwd, jacrev, vmap

torch.manual_seed(4)
torch.set_default_dtype(torch.float64)
LINKS = torch.tensor([1.0, 0.8, 0.4])


def forward_kinematics(q):
    """joint angles -> (x, y, heading) of the gripper"""
    a = torch.cumsum(q, 0)
    return torch.stack([(LINKS * a.cos()).sum(), (LINKS * a.sin()).sum(), a[-1]])


def position(q):
    return forward_kinematics(q)[:2]


q = torch.tensor([0.3, 0.4, -0.2])
J = jacrev(forward_kinematics)(q)
print("pose", [f"{v:.4f}" for v in forward_kinematics(q).tolist()])
print("Jacobian\n", torch.round(J, decimals=3))
print("forward and reverse mode agree:", torch.allclose(J, jacfwd(forward_kinematics)(q)))
print("manipulability %.4f" % torch.sqrt(torch.linalg.det(J[:2] @ J[:2].T)))
print("curvature of x in q:\n", torch.round(hessian(lambda v: position(v)[0])(q), decimals=3))


def solve(target, q, steps=15, damping=0.05):
    """Levenberg-Marquardt on the position only; the spare freedom keeps the joints near zero."""
    eye2, eye3 = torch.eye(2), torch.eye(3)
    for _ in range(steps):
        err = target - position(q)
        J = jacrev(position)(q)
        Jt = J.mT
        pinv = Jt @ torch.linalg.inv(J @ Jt + damping ** 2 * eye2)
        null = eye3 - pinv @ J
        q = q + pinv @ err + null @ (-0.1 * q)
    return q


targets = torch.tensor([[1.5, 0.9], [0.2, 1.7], [-1.0, 1.0], [2.1, 0.3], [3.0, 0.0]])
start = torch.tensor([0.5, 0.5, 0.5]).expand(len(targets), 3)
solution = vmap(solve)(targets, start)
reached = vmap(position)(solution)
for t, s, p in zip(targets, solution, reached):
    e = (t - p).norm().item()
    angles = [round(v * 180 / math.pi) for v in s.tolist()]
    note = "" if t.norm() <= LINKS.sum() else "  (out of reach)"
    print(f"target {[round(v, 2) for v in t.tolist()]} error {e:.3f}" + (f" angles {angles}" if not note else note))

# how sure is the gripper when the encoders have 1 degree of noise?
noise = math.radians(1.0)
for s in solution[:2]:
    J = jacrev(position)(s)
    cov = noise ** 2 * J @ J.T
    axes = torch.linalg.eigvalsh(cov).sqrt()
    sample = vmap(position)(s + noise * torch.randn(4000, 3))
    print("std along the axes: linearised", [f"{1000 * v:.1f}" for v in axes.tolist()], "mm, total sampled %.0f mm"
          % (1000 * sample.var(0).sum().sqrt()), "linear %.0f mm" % (1000 * torch.trace(cov).sqrt()))
