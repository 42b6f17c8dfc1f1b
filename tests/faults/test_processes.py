"""Programs with threads and with children: fork, multiprocessing, subprocess. Everything that runs operators is in the one file."""
from support import IMPORT, Case, harness, main


def setUpModule():
    harness.need()


class Processes(Case):
    def ones_by_process(self):
        return sorted(n for _, n in self.rows(
            "SELECT t.process, count(*) FROM hop h JOIN thread t ON t.id = h.thread WHERE h.op = 'aten::ones' AND h.kind LIKE 'call%' GROUP BY t.process"))

    def parents_stay_in_their_thread(self):
        self.assertEqual(self.one("SELECT count(*) FROM event e JOIN event p ON p.id = e.parent WHERE p.thread <> e.thread"), 0)

    def test_fork(self):
        status, out, err = self.record(self.program(IMPORT + """
for _ in range(3): torch.ones(1)
pid = os.fork()
if pid == 0:
    for _ in range(5): torch.ones(1)
    os._exit(7)
_, status = os.waitpid(pid, 0)
for _ in range(4): torch.ones(1)
print("child", os.waitstatus_to_exitcode(status))
"""))
        self.assertEqual((status, out), (0, "child 7\n"), err)
        self.assertEqual(self.ones_by_process(), [5, 7])
        self.assertEqual(self.one("SELECT count(DISTINCT os_id) FROM process"), 2)
        self.parents_stay_in_their_thread()
        self.assert_opens()

    def test_fork_inside_a_call(self):
        """The child is born with open frames on its stack that are the parent's, not its own."""
        status, out, err = self.record(self.program(IMPORT + """
lib = torch.library.Library("peel_faults", "DEF")
lib.define("f(Tensor x) -> Tensor")
def kernel(x):
    pid = os.fork()
    if pid == 0:
        torch.ones(1)
        os._exit(0)
    os.waitpid(pid, 0)
    return x + 1
lib.impl("f", kernel, "CPU")
print(torch.ops.peel_faults.f(torch.zeros(1)).item())
"""))
        self.assertEqual((status, out), (0, "1.0\n"), err)
        self.parents_stay_in_their_thread()
        self.assertEqual(self.one("SELECT count(*) FROM hop WHERE op = 'peel_faults::f' AND kind LIKE 'call%' AND end_ns IS NOT NULL"), 1)
        self.assert_opens()

    def test_multiprocessing(self):
        for method in ("fork", "spawn"):
            with self.subTest(method):
                status, out, err = self.record(self.program("""
import sys, torch, multiprocessing as mp
def work(n):
    for _ in range(n): torch.ones(1)
    return n
if __name__ == "__main__":
    mp.set_start_method(sys.argv[1])
    torch.ones(1)
    with mp.Pool(2) as pool:
        print(pool.map(work, [2, 3], chunksize=1))
"""), method)
                self.assertEqual((status, out), (0, "[2, 3]\n"), err)
                self.assertEqual(sum(self.ones_by_process()), 6)
                self.parents_stay_in_their_thread()
                self.assert_opens()

    def test_data_loader_with_workers(self):
        status, out, err = self.record(self.program("""
import torch
from torch.utils.data import DataLoader, TensorDataset
if __name__ == "__main__":
    data = TensorDataset(torch.arange(8.0))
    print(sum(b.sum().item() for (b,) in DataLoader(data, batch_size=2, num_workers=2)))
"""))
        self.assertEqual((status, out), (0, "28.0\n"), err)
        self.assert_opens()

    def test_subprocess(self):
        status, out, err = self.record(self.program(IMPORT + """
import subprocess
for _ in range(2): torch.ones(1)
print(subprocess.run([sys.executable, "-c", "import torch\\nfor _ in range(3): torch.ones(1)\\nprint('inner')"], capture_output=True, text=True).stdout.strip())
print(subprocess.run(["sh", "-c", "echo shell"], capture_output=True, text=True).stdout.strip())
"""))
        self.assertEqual((status, out), (0, "inner\nshell\n"), err)
        self.assertEqual(self.ones_by_process(), [2, 3])
        self.assert_opens()

    def test_threads(self):
        status, out, err = self.record(self.program(IMPORT + """
import threading
def work(n):
    for _ in range(n): torch.ones(1)
threads = [threading.Thread(target=work, args=(100 * (i + 1),), name="worker %d" % i) for i in range(4)]
for t in threads: t.start()
for t in threads: t.join()
print("joined")
"""))
        self.assertEqual((status, out), (0, "joined\n"), err)
        counts = sorted(n for _, n in self.rows(
            "SELECT thread, count(*) FROM hop WHERE op = 'aten::ones' AND kind LIKE 'call%' AND end_ns IS NOT NULL GROUP BY thread"))
        self.assertEqual(counts, [100, 200, 300, 400])
        self.parents_stay_in_their_thread()
        # Ids are begin order over all threads.
        self.assertEqual(self.one("SELECT count(*) FROM event a JOIN event b ON b.id = a.id + 1 WHERE b.begin_ns < a.begin_ns"), 0)

    def test_many_short_threads(self):
        """More threads than rings: none is lost silently."""
        status, out, err = self.record(self.program(IMPORT + """
import threading
for i in range(300):
    t = threading.Thread(target=lambda: torch.ones(1))
    t.start(); t.join()
print("joined")
"""))
        self.assertEqual((status, out), (0, "joined\n"), err)
        seen = self.one("SELECT count(*) FROM hop WHERE op = 'aten::ones' AND kind LIKE 'call%'")
        lost = self.one("SELECT coalesce(sum(count), 0) FROM loss")
        self.assertTrue(seen == 300 or lost > 0, (seen, lost))

    def test_thread_that_outlives_the_main_one(self):
        status, out, err = self.record(self.program(IMPORT + """
import threading
def work():
    end = time.monotonic() + 1
    while time.monotonic() < end: torch.ones(1)
    print("thread done")
threading.Thread(target=work).start()
"""))
        self.assertEqual((status, out), (0, "thread done\n"), err)
        self.assert_opens()

    def test_daemon_thread_at_exit(self):
        """A thread that comes back from a kernel while Python ends: PyTorch 2.13 ends by abort then, alone as well."""
        program = self.program(IMPORT + """
import threading
def work():
    while True: torch.ones(1)
threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
print("end")
""")
        alone = harness.run([harness.python(), program])[0]
        status, out, err = self.record(program)
        self.assertIn(status, (0, alone if alone >= 0 else 128 - alone), err)
        self.assertEqual(out, "end\n", err)
        self.assert_opens("crashed" if status else "complete")


if __name__ == "__main__":
    main()
