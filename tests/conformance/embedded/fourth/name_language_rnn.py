"""Classify made-up names into three languages with a character level RNN written from scratch."""
import random
import string

import torch
import torch.nn as nn

all_letters = string.ascii_lowercase
n_letters = len(all_letters)

syllables = {
    "norsk": ["bjor", "gard", "stein", "ulf", "vik", "thor"],
    "italo": ["ella", "ino", "ric", "luca", "bia", "etti"],
    "nihon": ["ka", "shi", "mura", "yama", "to", "ko"],
}
languages = list(syllables)


def letterToIndex(letter):
    return all_letters.find(letter)


def lineToTensor(line):
    tensor = torch.zeros(len(line), 1, n_letters)
    for li, letter in enumerate(line):
        tensor[li][0][letterToIndex(letter)] = 1
    return tensor


class RNN(nn.Module):
    def __init__(self, input_size, hidden_size, output_size):
        super(RNN, self).__init__()
        self.hidden_size = hidden_size
        self.i2h = nn.Linear(input_size + hidden_size, hidden_size)
        self.h2o = nn.Linear(hidden_size, output_size)
        self.softmax = nn.LogSoftmax(dim=1)

    def forward(self, input, hidden):
        combined = torch.cat((input, hidden), 1)
        hidden = torch.tanh(self.i2h(combined))
        return self.softmax(self.h2o(hidden)), hidden

    def initHidden(self):
        return torch.zeros(1, self.hidden_size)


def randomExample():
    lang = random.choice(languages)
    name = "".join(random.choice(syllables[lang]) for _ in range(2))
    return lang, name, torch.tensor([languages.index(lang)]), lineToTensor(name)


random.seed(3)
torch.manual_seed(3)
rnn = RNN(n_letters, 24, len(languages))
criterion = nn.NLLLoss()
learning_rate = 0.03


def evaluate(line_tensor):
    hidden = rnn.initHidden()
    for ch in line_tensor:
        output, hidden = rnn(ch, hidden)
    return output


current_loss = 0
for it in range(1, 401):
    lang, name, category_tensor, line_tensor = randomExample()
    rnn.zero_grad()
    output = evaluate(line_tensor)
    loss = criterion(output, category_tensor)
    loss.backward()
    for p in rnn.parameters():
        p.data.add_(p.grad.data, alpha=-learning_rate)
    current_loss += loss.item()
    if it % 100 == 0:
        print("%d avg loss %.3f" % (it, current_loss / 100))
        current_loss = 0

confusion = torch.zeros(3, 3, dtype=torch.long)
with torch.no_grad():
    for _ in range(90):
        lang, name, cat, line = randomExample()
        confusion[cat.item(), evaluate(line).argmax().item()] += 1
    print(confusion)
    for name in ["thorulf", "luciella", "yamako"]:
        topv, topi = evaluate(lineToTensor(name)).topk(1)
        print(name, "->", languages[topi[0][0].item()])
