"""REINFORCE on a bandit: softmax, multinomial, log probabilities, a baseline."""
import torch

torch.manual_seed(20)
logits = torch.zeros(3, requires_grad=True)
optimizer = torch.optim.SGD([logits], lr=0.5)
reward_of = torch.tensor([0.1, 1.0, 0.3])
baseline = 0.0
for step in range(4):
    probabilities = torch.softmax(logits, dim=0)
    action = torch.multinomial(probabilities, 1)
    reward = reward_of[action].item()
    loss = -(reward - baseline) * torch.log(probabilities[action]).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    baseline += 0.1 * (reward - baseline)
    print(step, action.item(), reward, logits.tolist())
