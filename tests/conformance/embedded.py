"""Programs on both engines. `peel record --engine embedded` and a recording of stock PyTorch, hop by hop: operator, kind, key, key set, union over the
arguments, thread-local state, nodes and their runs; and what the program prints, numbers to 1e-5. PROGRAMS says for each program what to expect:
that the two are equal, or what the embedded engine lacks, which the program must then name in one clean sentence, the last line that it writes.
Stock runs all programs in one recorded process, the embedded engine each in its own.

    embedded.py [--try NAME...] [--unseen]
"""
import glob
import json
import os
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import engine_rows
import harness

EQUAL = None


class OnlyPrints(str):
    """The hops differ, for this reason; what is printed is the same."""


class OnlyHops(str):
    """The hops are the same; a number that is printed hangs, for this reason, on how sums are rounded."""


class Rounding(str):
    """What is printed is the same to its last digit; the hops are equal or not with the processor and the library for
    products, as the last bit of a number decides, for this reason, on what comes next."""


class Chaotic(str):
    """Where it ends hangs, for this reason, on rounding in stock itself: with other vector instructions (ATEN_CPU_CAPABILITY=default) stock prints
    other numbers. The words of what is printed are the same."""


class Caught(str):
    """What is lacking, where the program catches the error and goes on: a line that it prints."""


HERE = os.path.dirname(os.path.abspath(__file__))
# Program -> EQUAL, OnlyPrints, OnlyHops, Rounding, Chaotic, Caught, or what is lacking as the engine's sentence names it.
PROGRAMS = {
    "assets/grad_modes": EQUAL,
    "assets/train_step": EQUAL,
    "assets/custom_op": EQUAL,
    "programs/autocast": EQUAL,
    "programs/cnn": EQUAL,
    "programs/compile_eager": "torch._dynamo",
    "programs/compile_inductor": "torch.compile",
    "programs/complex_conj": OnlyPrints("a zero tensor is made of real zeros"),
    "programs/custom_function": EQUAL,
    "programs/dispatch_mode": "module torch._subclasses",
    "programs/exceptions": Caught("torch.quantize_per_tensor"),
    "programs/lstm": EQUAL,
    "programs/small_things": "torch.quantize_per_tensor",
    "programs/sparse": EQUAL,
    "programs/threads": EQUAL,
    "programs/transformer": EQUAL,
    "programs/views_inplace": EQUAL,
    "programs/vmap_grad": "torch.func.functionalize",
    "embedded/jacobians_vectorized": OnlyPrints("stock takes the keys that vmap had before functorch"),
    "embedded/orthogonal_weights": OnlyPrints("the exponential of a matrix is one call"),
    "embedded/second_derivatives": OnlyPrints("the second derivative of a convolution is an operator of its own in stock"),
    "embedded/func_second_tangents": OnlyPrints("tangents of zeros are computed with on meta tensors, which call prims in stock"),
    "embedded/func_forward": OnlyPrints("tangents of zeros are computed with on meta tensors, which call prims in stock"),
    "embedded/func_tangents": OnlyPrints("tangents of zeros are computed with on meta tensors, which call prims in stock; some formulas call other operators"),
    "unseen/ema_checkpoint_roundtrip": OnlyHops("a bias before a BatchNorm has a gradient of rounding errors, which AdamW makes large; stock without oneDNN prints another number too"),
    "unseen/linalg_homework": OnlyPrints("the exponential of a matrix is one call"),
    "unseen/pca_svd_homework": Rounding("two cosines are 1 where stock has 1 - 2e-16, and printing looks closer at those"),
    "unseen/per_sample_grads": OnlyPrints("the hessian's tangents of zeros are computed with on meta tensors, which call prims in stock"),
    "unseen/per_sample_grads_func": OnlyPrints("the hessian's tangents of zeros are computed with on meta tensors, which call prims in stock"),
    "third/hessian_jacobian_demo": OnlyPrints("tangents of zeros are computed with on meta tensors, which call prims in stock"),
    "third/linalg_exercises": OnlyPrints("the exponential of a matrix is one call; printing looks closer at other numbers"),
    "third/parametrize_and_prune": OnlyPrints("the exponential of a matrix is one call"),
    "third/pinn_harmonic_oscillator": Chaotic("how far a line search goes"),
    "fourth/bayesian_coin_and_elbo": OnlyPrints("a step is made contiguous, and another gradient is taken"),
    "fourth/fft_signal_cleanup": OnlyPrints("the inverse of a short-time transform takes other steps"),
    "fourth/kfold_softmax_regression": OnlyPrints("a row is made contiguous"),
    "fourth/newton_and_jacobians": OnlyPrints("tangents of zeros are computed with on meta tensors, which call prims in stock"),
    "fourth/padded_batches_packing": OnlyPrints("a packed GRU takes other steps where no gradients are wanted"),
    "embedded/sparse_more": OnlyPrints("the norm of a sparse tensor, products of compressed ones, blocks and diagonals take fewer calls"),
    "fourth/tabular_early_stopping": OnlyHops("a bias before a BatchNorm has a gradient of rounding errors, which Adam makes large"),
    "fourth/unet_circles": OnlyHops("a bias before a BatchNorm has a gradient of rounding errors, which Adam makes large"),
    "fifth/arm_inverse": OnlyPrints("tangents of zeros are computed with on meta tensors, which call prims in stock"),
    "fifth/lesion_unet": OnlyHops("sums of convolutions round otherwise: one loss of many differs in its last printed digit"),
    "fifth/rent_tabular": OnlyHops("a bias before a BatchNorm has a gradient of rounding errors, which AdamW makes large"),
    "fifth/sparse_ranking": OnlyPrints("index_select copies columns that lie apart first"),
    "unseen/survey_stats": Rounding("printing looks closer at a correlation of exactly 1"),
}
# The programs under embedded/unseen were written without running them on the engine, or a look at it. What each did when it was first run: equal; other hops
# (it printed the same); lacking (it ended with the sentence); wrong. Each set was first run when the sets before it had been learnt from. The third, fourth and
# fifth set are run with --unseen, as they take long.
FIRST = {
    **dict.fromkeys(("autograd_page", "custom_layer", "diffusion", "logistic_numpy", "matrix_factorisation", "mnist_like", "newton", "sentiment", "weight_tricks"), "equal"),
    **dict.fromkeys(("early_stopping", "gpt_tiny", "resnet_block", "seq2seq"), "other hops"),
    **dict.fromkeys(("broadcasting", "contrastive", "double_precision", "first_steps", "gradient_checks", "hooks_study", "kmeans", "pca", "physics", "profile_and_time",
                     "unet_parts"), "lacking"),
    "actor_critic": "wrong",  # an AttributeError instead of the sentence
}
SECOND = {
    **dict.fromkeys(("activation_hooks_stats", "bf16_autocast_train", "box_iou_nms", "char_lstm_hello", "digits_cnn", "finetune_param_groups", "gather_scatter_examples",
                     "hook_inspector", "inplace_autograd_errors", "inplace_pitfalls", "kmeans_knn", "pinn_oscillator", "pinn_with_lbfgs", "reinforce_corridor",
                     "reinforce_with_entropy", "rosenbrock_optimizers", "scheduler_table", "spiral_mlp", "tiny_gpt", "tiny_gpt_reverse", "vae_ring", "vae_two_moons"), "equal"),
    **dict.fromkeys(("char_lstm_names", "checkpoint_blocks", "hmm_forward_viterbi", "indexing_notes", "padded_sequences_loader", "pca_svd_homework", "seq2seq_attention",
                     "tabular_kfold", "tiny_cnn_schedules", "unet_segmentation"), "other hops"),
    **dict.fromkeys(("fft_denoise_signal", "fft_signal", "gcn_communities", "gmm_em", "linalg_homework", "loss_tour", "movie_factorization", "per_sample_grads",
                     "per_sample_grads_func", "resume_training", "sparse_gcn_communities"), "lacking"),
    **dict.fromkeys(("box_nms", "survey_stats"), "wrong"),  # argsort(stable=...) raised a TypeError
    **dict.fromkeys(("dtype_and_numpy_notes", "dtype_promotion_tour"), "wrong"),  # so did a | 1
    **dict.fromkeys(("custom_autograd_ste", "ste_binary_weights"), "wrong"),  # printed another name of a node
    "ema_checkpoint_roundtrip": "wrong",  # other numbers
}
THIRD = {
    **dict.fromkeys(("autoencoder_denoise_signal", "char_lstm_names", "data_loader_patterns", "ddpm_points_1d", "debugging_nan_anomaly", "digits_cnn_from_scratch", "dqn_corridor",
                     "early_stopping_trainer", "forward_hooks_activations", "game_of_life_conv", "gan_gaussian_1d", "gpt_bigram_to_attention", "gradient_accumulation_equivalence",
                     "graph_convolution_communities", "gru_time_series_forecast", "house_price_regression", "kmeans_clustering", "logistic_regression_manual", "lora_finetune_frozen",
                     "lr_scheduler_tour", "mixed_precision_cpu", "multi_task_heads", "neural_style_gram", "numpy_bridge", "optimizers_from_scratch", "policy_gradient_bandit",
                     "resnet_blocks_tiny", "save_load_checkpoint", "scaled_dot_attention_by_hand", "seq2seq_attention_sort", "siamese_contrastive", "tensor_basics_homework",
                     "unet_segmentation_small", "vae_two_moons", "xor_first_network"), "equal"),
    **dict.fromkeys(("bayes_mixture_distributions", "custom_autograd_function", "loss_functions_by_hand", "pinn_harmonic_oscillator", "transformer_encoder_reverse"), "other hops"),
    **dict.fromkeys(("custom_op_library", "fft_lowpass_filter", "hessian_jacobian_demo", "linalg_exercises", "parametrize_and_prune", "profile_and_count_flops",
                     "quantize_by_hand_inference", "sentiment_embeddingbag", "sparse_pagerank", "torch_func_per_sample_grads"), "lacking"),
}
FOURTH = {
    **dict.fromkeys(("autocast_bfloat16_cpu", "checkpoint_and_resume", "custom_autograd_function", "ddpm_two_moons", "digits_cnn_argparse", "distill_teacher_student",
                     "dqn_corridor", "finding_the_nan", "forward_hooks_activations", "gan_one_dimensional", "gaussian_process_regression", "gru_adding_problem",
                     "kmeans_pca_numpy", "linear_regression_first_steps", "lora_adapters", "lstm_sine_forecast", "maml_sine_torch_func", "moe_top2_router",
                     "movie_matrix_factorization", "name_language_rnn", "per_sample_gradients", "pinn_first_order_ode", "pointnet_sets", "profiler_operator_counts",
                     "realnvp_flow", "reinforce_cartpole_numpyless", "resnet_from_scratch", "schedulers_table", "sentiment_embeddingbag", "seq2seq_reverse_attention",
                     "siamese_triplet", "siren_fits_image", "skipgram_negative_sampling", "tensor_indexing_exercises", "tiny_gpt_characters", "vae_ring",
                     "vision_transformer_quadrants", "vq_codebook", "xor_two_ways"), "equal"),
    **dict.fromkeys(("bayesian_coin_and_elbo", "fft_signal_cleanup", "kfold_softmax_regression", "padded_batches_packing", "register_custom_op", "sparse_pagerank"), "other hops"),
    **dict.fromkeys(("gcn_two_communities", "gradient_accumulation_and_freezing", "newton_and_jacobians"), "lacking"),
    **dict.fromkeys(("tabular_early_stopping", "unet_circles"), "wrong"),  # losses in training, by rounding
}
FIFTH = {
    **dict.fromkeys(("bearing_autoencoder", "black_scholes_greeks", "broadcast_loss_bug", "cox_survival", "crf_tagger", "dead_relu_hooks", "diffusion_spiral",
                     "dp_sgd_samples", "fraud_imbalance", "gather_notes", "grad_cam_bars", "hive_weight_gru", "inplace_error", "knowledge_tracing",
                     "library_loans", "load_quantiles", "lora_patch", "molecule_gnn", "morse_ctc", "numpy_sharing", "penguin_mlp", "ppo_gridwalk",
                     "profiler_counts", "ragged_loader", "resume_training", "sam_optimizer", "sir_fit", "spectral_gate", "ste_ternary", "stripes_vae",
                     "syllable_tagger", "tiny_vit", "topk_experts", "warmup_schedules", "whale_triplets"), "equal"),
    **dict.fromkeys(("accumulate_gradients", "arm_inverse", "causal_tcn", "custom_op_smooth", "kriging_gp", "poisson_fft", "roman_seq2seq", "sparse_ranking",
                     "weight_averaging"), "other hops"),
    **dict.fromkeys(("fx_fold_batchnorm", "kv_cache_decoder", "owl_counts"), "lacking"),
    **dict.fromkeys(("bf16_autocast", "lesion_unet", "rent_tabular"), "wrong"),  # losses in training, by rounding
}
FOLDERS = {"assets": harness.PROGRAMS, "questions": os.path.join(harness.PROGRAMS, "questions"), "programs": os.path.join(HERE, "programs"),
           "embedded": os.path.join(HERE, "embedded"), "unseen": os.path.join(HERE, "embedded", "unseen"),
           "third": os.path.join(HERE, "embedded", "third"), "fourth": os.path.join(HERE, "embedded", "fourth"), "fifth": os.path.join(HERE, "embedded", "fifth")}
for folder in ("questions", "embedded", "unseen", "third", "fourth", "fifth"):
    for own in sorted(glob.glob(os.path.join(FOLDERS[folder], "*.py"))):
        PROGRAMS.setdefault(folder + "/" + os.path.basename(own)[:-3], EQUAL)

SENTENCE = re.compile(r"The embedded engine has no (.*) yet; the program can be run on stock PyTorch \(--engine pytorch\)\.")
NUMBER = re.compile(r"-?0x[01]\.[0-9a-f]+p[+-]\d+|-?\d+\.?\d*(?:e[+-]?\d+)?")
IMAGINARY = re.compile(r"([+-])(\d[\d.]*(?:e[+-]\d+)?j)")
ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
# Each program between two calls of an operator that no program makes itself; as if it were the first of its process.
STOCK = '''
import contextlib, gc, io, json, runpy, sys, threading, torch, traceback, warnings
mark = torch._nnpack_available
results = open(sys.argv[1], "w")
alive = []
for path in json.load(open(sys.argv[2])):
    torch.default_generator.manual_seed(67280421310721)
    torch.set_printoptions(profile="default")
    torch.set_default_dtype(torch.float32)
    out, error = io.StringIO(), ""
    sys.argv = [path]
    with warnings.catch_warnings(), contextlib.redirect_stdout(out):
        mark()
        try:
            names = runpy.run_path(path, run_name="__main__")
            for name in [n for n, v in names.items() if isinstance(v, torch.library.Library)]:
                names.pop(name)._destroy()
            alive.append(names)  # a node at the address of one that is gone is hard to tell from it
        except BaseException:
            error = traceback.format_exc()
        torch.set_grad_enabled(True)
        mark()
    gc.collect()
    results.write(json.dumps([error, out.getvalue()]) + "\\n")
'''


def parts(text):
    """The text without its numbers, and the numbers."""
    text = IMAGINARY.sub(lambda m: " %s%s" % (m[1].strip("+"), m[2]), ADDRESS.sub("ADDRESS", text))
    return NUMBER.sub("#", text), [float.fromhex(n) if "x" in n else float(n) for n in NUMBER.findall(text)]


def printed_differences(ours, theirs):
    (our_words, a), (their_words, b) = parts(ours), parts(theirs)
    if our_words != their_words:
        for x, y in zip(ours.splitlines() + [""], theirs.splitlines() + [""]):
            if parts(x)[0] != parts(y)[0]:
                return ["printed: embedded %r, stock %r" % (x, y)]
    return ["printed: embedded %r, stock %r" % (x, y) for x, y in zip(a, b) if abs(x - y) > 1e-5 * max(1, abs(y))][:3]


def by_thread(all_rows):
    """The rows of each thread. Threads have no names that both engines share: beside the main one they go by what they did."""
    rows = {}
    for row in all_rows:
        rows.setdefault(row.thread, []).append(row)
    others = sorted((all for name, all in rows.items() if name != "main"), key=lambda all: [r.text() for r in all])
    return {"main": rows.get("main", []), **{"thread %d" % i: all for i, all in enumerate(others)}}


def path_of(name):
    folder, program = name.split("/")
    return os.path.join(FOLDERS[folder], program + ".py")


def stock(names, folder):
    """{name: (error, what was printed, rows)}"""
    script, facts, paths, session = (os.path.join(folder, n) for n in ("stock.py", "facts", "paths.json", "stock.peel"))
    with open(script, "w") as f:
        f.write(STOCK)
    with open(paths, "w") as f:
        json.dump([path_of(n) for n in names], f)
    status, _, err = harness.record(session, [script, facts, paths], timeout=max(300, 6 * len(names)))
    if status != 0:
        raise AssertionError("stock's recording of the programs ended with %d: %s" % (status, err[-2000:]))
    told, rows = [json.loads(line) for line in open(facts)], engine_rows.segments(engine_rows.stock(session), "aten::_nnpack_available")
    assert len(told) == len(rows) == len(names), (len(told), len(rows), len(names))
    return {n: (error, out, r) for n, (error, out), r in zip(names, told, rows)}


def alone(name, folder):
    """As `stock` gives it, from a process of its own: where programs ran before, the recorder takes now and then a node for one that lay there."""
    session = os.path.join(folder, "alone.peel")
    status, out, err = harness.record(session, [path_of(name)])
    return "" if status == 0 else err, out, engine_rows.stock(session)


def embedded(path, name):
    return harness.run([harness.peel(), "record", "--engine", "embedded", "-o", path, path_of(name)], env=harness.environment(PYTHONPATH=NUMPY))


def last_line(err):
    lines = [line for line in err.splitlines() if line.strip() and not line.startswith("peel: ")]
    return lines[-1] if lines else ""


def check_lacking(name, lacking, run):
    status, out, err = run
    last = SENTENCE.search(last_line(err))
    if isinstance(lacking, Caught):
        return [] if lacking in SENTENCE.findall(out) else ["listed as saying that it lacks %s, but it says %s" % (lacking, SENTENCE.findall(out))]
    if status == 0:
        return ["listed as lacking %s, but it ran to its end: compare it (--try %s)" % (lacking, name)]
    if not last:
        return ["ended with %d without the sentence that names what is missing: %s" % (status, err[-600:])]
    return [] if last[1] == lacking else ["listed as lacking %s, but it says %s" % (lacking, last[1])]


def check_equal(name, run, theirs, session):
    """(problems of what is printed, problems of hops, rows compared)."""
    error, printed, rows = theirs
    if error or run[0] != 0:
        return ["on %s: %s" % (("stock", error[-600:]) if error else ("embedded", run[2][-700:]))], [], 0
    problems = printed_differences(run[1], printed)
    hops = []
    ours, theirs = by_thread(engine_rows.stock(session)), by_thread(rows)
    if sorted(ours) != sorted(theirs):
        hops.append("threads: embedded %s, stock %s" % (sorted(ours), sorted(theirs)))
    for thread in ours:
        count, lines = engine_rows.differences(ours[thread], theirs.get(thread, []), limit=24, renumber=True)
        if count:
            hops.append("%s: %d rows differ\n    %s" % (thread, count, "\n    ".join(lines)))
    info = harness.run([harness.peel(), "info", session])[1]
    explained = re.search(r"key sets: ([\d,]+) of ([\d,]+) explained", info)
    if not explained or explained[1] != explained[2]:
        hops.append("info: " + (explained[0] if explained else info))
    return problems, hops, sum(map(len, theirs.values()))


def main():
    global NUMPY
    tried = sys.argv[2:] if sys.argv[1:2] == ["--try"] else None
    late = sys.argv[1:] == ["--unseen"]
    version = harness.need()
    names = [n for n in PROGRAMS if n.startswith(("third/", "fourth/", "fifth/")) == late] if tried is None else tried
    compared = [n for n in names if tried is not None or PROGRAMS[n] is EQUAL or isinstance(PROGRAMS[n], (OnlyPrints, OnlyHops, Rounding, Chaotic))]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        NUMPY = lend_numpy(folder)
        with ThreadPoolExecutor(2) as pool:
            runs = {n: pool.submit(embedded, os.path.join(folder, n.replace("/", "-") + ".peel"), n) for n in names}
            theirs = stock(compared, folder)
        for name in names:
            lacking, run = PROGRAMS.get(name), runs[name].result()
            if name in compared:
                session = os.path.join(folder, name.replace("/", "-") + ".peel")
                problems, hops, rows = check_equal(name, run, theirs[name], session)
                if hops and not problems and not isinstance(lacking, (OnlyPrints, Rounding, Chaotic)):
                    problems, hops, rows = check_equal(name, run, alone(name, folder), session)
                if isinstance(lacking, OnlyPrints):
                    problems += [] if hops or problems else ["its hops are equal: list it as EQUAL"]
                    text = "prints the same; " + lacking
                elif isinstance(lacking, Rounding):
                    text = ("prints the same with other hops; " if hops else "equal here, %d rows; " % rows) + lacking
                elif isinstance(lacking, Chaotic):
                    if run[0] == 0 and not theirs[name][0]:
                        problems = [] if NUMBER.sub("#", run[1]) == NUMBER.sub("#", theirs[name][1]) else ["prints other words"] + problems
                    text = "prints the same words; " + lacking
                elif isinstance(lacking, OnlyHops):
                    problems, text = hops, "takes the same %d hops; %s" % (rows, lacking)
                else:
                    problems, text = problems + hops, "equal, %d rows" % rows
            else:
                problems, text = check_lacking(name, lacking, run), "lacks " + lacking
            failed += bool(problems)
            print("%s %s: %s" % ("FAILED" if problems else "ok", name, "" if problems else text), flush=True)
            for problem in problems:
                print("  " + problem)
    equal = sum(PROGRAMS.get(n) is EQUAL for n in names)
    if tried is None:
        sets = {"unseen": [FIRST, SECOND], "third": [THIRD], "fourth": [FOURTH], "fifth": [FIFTH]}
        for folder, tries in sets.items():
            held = [n.partition("/")[2] for n in PROGRAMS if n.startswith(folder + "/")]
            assert sorted(held) == sorted(n for t in tries for n in t), "each unseen program has its first try in a list, and no other"
        for tries, when in ((FIRST, "first"), (SECOND, "second"), (THIRD, "third"), (FOURTH, "fourth"), (FIFTH, "fifth")):
            counts = {how: sum(tries[n] == how for n in tries) for how in ("equal", "other hops", "lacking", "wrong")}
            print("%d unseen programs of the %s set, at the first try: %s" % (len(tries), when, ", ".join("%d %s" % (n, how) for how, n in counts.items())))
    print("torch %s: %d programs, %d of them equal, %d failed" % (version.split()[0], len(names), equal, failed))
    return 1 if failed else 0


def lend_numpy(folder):
    """A folder that holds the NumPy of the Python with PyTorch, when the engine's own Python has none and takes it; else nothing."""
    where = harness.run([harness.python(), "-c", "import numpy, sys; print(numpy.__file__, *sys.version_info[:2])"])
    with open(os.path.join(os.path.dirname(harness.peel()), "engine", "about.txt")) as f:
        own = f.read().splitlines()[2]
    mine = harness.run([own, "-c", "import sys; print(*sys.version_info[:2])"])[1].split()
    if where[0] != 0 or where[1].split()[1:] != mine or harness.run([own, "-c", "import numpy"])[0] == 0:
        return ""
    packages = os.path.dirname(os.path.dirname(where[1].split()[0]))
    lent = os.path.join(folder, "numpy")
    os.mkdir(lent)
    for name in ("numpy", "numpy.libs"):
        if os.path.exists(os.path.join(packages, name)):
            os.symlink(os.path.join(packages, name), os.path.join(lent, name))
    return lent


NUMPY = ""

if __name__ == "__main__":
    sys.exit(main())
