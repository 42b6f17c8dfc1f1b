"""A tagger: an embedding, an LSTM, a linear layer, three steps of SGD."""
import torch
import torch.nn as nn

torch.manual_seed(1)
words = {"the": 0, "dog": 1, "ate": 2, "apple": 3}
tags = {"DET": 0, "NN": 1, "V": 2}
sentence = torch.tensor([words[w] for w in "the dog ate the apple".split()])
target = torch.tensor([tags[t] for t in ["DET", "NN", "V", "DET", "NN"]])


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(4, 6)
        self.lstm = nn.LSTM(6, 5)
        self.out = nn.Linear(5, 3)

    def forward(self, x):
        h, _ = self.lstm(self.embed(x).view(len(x), 1, -1))
        return nn.functional.log_softmax(self.out(h.view(len(x), -1)), dim=1)


model = Tagger()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    model.zero_grad()
    loss = nn.NLLLoss()(model(sentence), target)
    loss.backward()
    optimizer.step()
    print(epoch, loss.item())
with torch.no_grad():
    print(model(sentence).argmax(1))
