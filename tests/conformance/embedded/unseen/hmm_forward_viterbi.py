# Hidden Markov model in log space: forward, backward, Viterbi, and gradients of the likelihood as posteriors.
import torch

torch.manual_seed(4)
S, O, T = 3, 4, 12
init = torch.softmax(torch.randn(S), dim=0)
trans = torch.softmax(torch.randn(S, S) + 2 * torch.eye(S), dim=1)
emit = torch.softmax(1.5 * torch.randn(S, O), dim=1)
print("transition matrix:\n", trans)

# sample a trajectory
states, obs = [], []
s = torch.multinomial(init, 1).item()
for _ in range(T):
    states.append(s)
    obs.append(torch.multinomial(emit[s], 1).item())
    s = torch.multinomial(trans[s], 1).item()
obs = torch.tensor(obs)
print("states:", states, "obs:", obs.tolist(), sep="\n")

log_init, log_trans, log_emit = init.log(), trans.log(), emit.log()


def forward_alg(log_obs):
    alpha = log_init + log_obs[0]
    alphas = [alpha]
    for t in range(1, len(log_obs)):
        alpha = torch.logsumexp(alpha[:, None] + log_trans, dim=0) + log_obs[t]
        alphas.append(alpha)
    return torch.stack(alphas), torch.logsumexp(alpha, 0)


def backward_alg(log_obs):
    beta = torch.zeros(S)
    betas = [beta]
    for t in range(len(log_obs) - 2, -1, -1):
        beta = torch.logsumexp(log_trans + log_obs[t + 1] + beta, dim=1)
        betas.insert(0, beta)
    return torch.stack(betas)


def viterbi(log_obs):
    delta = log_init + log_obs[0]
    back = []
    for t in range(1, len(log_obs)):
        best, arg = (delta.unsqueeze(1) + log_trans).max(dim=0)
        delta = best + log_obs[t]
        back.append(arg)
    path = [delta.argmax().item()]
    for arg in reversed(back):
        path.append(arg[path[-1]].item())
    return path[::-1], delta.max()


log_obs = log_emit[:, obs].T.contiguous().requires_grad_()
alphas, ll = forward_alg(log_obs)
betas = backward_alg(log_obs)
print("log likelihood: %.4f" % ll.item())
gamma = torch.exp(alphas + betas - ll)
print("posterior sums:", gamma.sum(1).allclose(torch.ones(T)))
(g,) = torch.autograd.grad(ll, log_obs)
print("gradient is the posterior:", torch.allclose(g, gamma, atol=1e-5))
print(gamma.detach()[:4])

with torch.no_grad():
    path, score = viterbi(log_obs)
print("viterbi:", path, "score %.4f" % score.item())
print("agreement:", (torch.tensor(path) == torch.tensor(states)).sum().item(), "of", T)
stationary = torch.matrix_power(trans, 50)[0]
print("stationary:", stationary, "check:", torch.allclose(stationary @ trans, stationary, atol=1e-5))
