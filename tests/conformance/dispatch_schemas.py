"""Every schema of stock PyTorch must parse and print back as PyTorch prints it; so must these, which are written in other ways than PyTorch
prints, and what PyTorch refuses must be refused, with its words where it points at a place.
"""
import sys

from dispatch_replay import Replay, one_line, under_torch

WRITTEN = """a::b(Tensor(a!)?[] x, int[2] y=1, float z=1, float w=1e-5, *, bool? k=None, str s='ab\\n', ScalarType d=long) -> (Tensor(a!)[], int)
a::b.c(Tensor self, int[2] y=[1,2], int[2] z=[3,3], int[3] w=[3,3], int[1] v=[0], SymInt[2] q=4) -> ()
a::b(Tensor(a -> *) x) -> Tensor(*)[]
a::b(Dict(str, Tensor) x, (int,int)? y, Tensor[][] z, int[2]? q) -> ...
a::b(...) -> ...
a::b(Tensor x, ...) -> Tensor y
a::b(t[] x, t y, t1 z, tVar w) -> t
a::b(Future(t) x, RRef(t)? z, Await(t) k, Any a, AnyClassType? c, NoneType n) -> NoneType
a::b(MemoryFormat m=contiguous_format, Layout l=strided, Device d="cpu", int r=Mean) -> (Tensor a, Tensor b)
a::b(complex[] d, complex? e, complex c=1j) -> ()
a::b(QScheme q, Stream s, Storage t, SymBool u, DeviceIndex i, ConstQuantizerPtr p) -> ()
a::b(float e=1e10, float f=1e9, float q=0.1, float h=3.14159265358979, float g=123456789.0, int n=-5, float m=-0.5,float z=1e20, float y=1e-10) -> ()
a::b(SymInt s=0, SymInt[] a=[], SymInt[1]? p=None, float[] f=[1.5,2], bool[3] b=[True,False,True]) -> ()
a::b(bool[2] c=True, float[2] d=1.5) -> ()
a::b(Layout? l=None, Device[] d, ScalarType[] s, ScalarType? t=float) -> ()
a::b(Tensor[](a!) l, Tensor(*) k, Tensor(*!) m, Tensor(a! -> b) w, Tensor(a!)[](b) x) -> ()
a::b(int[2]? x=3, int? y=1, float? z=2, bool? b=True, str? s="x") -> ()
a::b(Dict(str, Tensor)? a, Dict(int, (int, str)) b) -> ()
a::b(Scalar s=1.5, Scalar? b=2, Scalar[] x) -> Scalar
a::b(str s=None, Generator? g=None, Device d="cuda:1") -> ()
a::b(str s="a'b", str t='q"x', str u='', str v="\\t\\\\") -> ()
a::b((Tensor(a), int) x) -> (Tensor(a), int)
a::b(Tensor a) -> (Tensor)
a::b(Tensor a) -> ((Tensor))
a::b(Tensor a) -> (Tensor, ...)
a::b(Tensor a, *, ...) -> ()
a::b(Any[] l) -> Any[]
a::b(Tensor x) -> Tensor(a)?
a::b(Tensor(a) x, Tensor(a)? y, Tensor(b)[]? z) -> (Tensor(a) o, Tensor(b!) q)
  a::b(  Tensor   x  ,int y)->Tensor
a::b(int x # a comment
) -> ()
a::b(int x, *, int y, *, int z) -> ()
b(int x) -> ()
a.b(int x) -> int
a::b(*, int x) -> ()
a::b(int x, *) -> int
a::b(bool b=1, float f=True, int i=None) -> ()
a::b(int[]? [] x, Tensor?[]? y) -> Tensor?[]
a::b(Tensor?? x) -> ()
a::b(__torch__.torch.classes.quantized.Conv2dPackedParamsBase x) -> Tensor
a::b(int x, int x) -> ()""".replace(" # a comment\n", " # a comment\x1f").split("\n")
REFUSED = ["", "a::", "a::b", "a::b()", "::b() -> ()", "a::b(int x->()", "a::b(int x=)->()", "a::b(int 3x)->()", "a::b(int x) -> () foo", "a::b.c.d(int x) -> int",
           "a::b(Tensor(a! x) -> ()", "a::b(Foo x) -> ()", "a::b(Tuple(int,int) k) -> ()", "a::b(int x=foo) -> ()", "a::b(bool b=true)->()", "a::b(str s=abc)->()",
           "a::b(int[3][2] x)->()", "a::b(int[2]? x=[0,1]) -> ()", "a::b(int[] w=0) -> ()", "a::b(Future f) -> ()", "a::b(str[] s=[]) -> ()", "a::b.default(int x)->()",
           "a::b(float x=inf) -> ()", "a::b(int x=1, int y) -> ()"]


def main():
    import torch
    replay = Replay()
    find = torch._C._dispatch_find_schema_or_throw
    printed = [str(find(*(name.split(".") + [""])[:2]).schema()) for name in torch._C._dispatch_get_all_op_names()]
    failed = 0
    for text, answer in zip(printed, replay.send_all([("schema", one_line(t)) for t in printed])):
        if answer != [text]:
            failed += 1
            print("stock's %s\nours    %s" % (text, answer))
    for text in WRITTEN:
        text = text.replace("\x1f", "\n")
        stock, (ours,) = str(torch._C.parse_schema(text)), replay.send("schema", one_line(text))
        if ours != stock:
            failed += 1
            print("written %s\nstock's %s\nours    %s" % (text, stock, ours))
    for text in REFUSED:
        try:
            stock = "accepted: %s" % torch._C.parse_schema(text)
        except (RuntimeError, TypeError) as e:
            stock = "error " + str(e)
        answer = "\n".join(replay.send("schema", text)).replace("\x1f", "\n")
        # What is an internal assertion there has more text around it.
        same = answer.strip() == stock.strip() or "INTERNAL ASSERT" in stock and answer.startswith("error ") and answer[6:] in stock
        if not same:
            failed += 1
            print("refused %r\nstock's %r\nours    %r" % (text, stock, answer))
    replay.close()
    print("torch %s: %d schemas, %d written otherwise, %d refused; %d differ" % (torch.__version__, len(printed), len(WRITTEN), len(REFUSED), failed))
    return 1 if failed else 0


if __name__ == "__main__":
    under_torch(main)
