# Copyright 2026 The ptxdsl Authors
# SPDX-License-Identifier: Apache-2.0
"""Measures cuDNN for the sizes of `gpubench -only attention,attentionbackward`, through PyTorch.

With the argument `forward`, measures only the forward pass. With the argument `batch`, measures
cuDNN for the sizes of `gpubench -only attentionbatch`, which needs the package
nvidia-cudnn-frontend. Prints the median, and the 10th and 90th percentiles, in TFLOP/s.
"""
import itertools
import os
import sys
import time
import warnings

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

warnings.filterwarnings("ignore")
ROUNDS, WARM = 31, 0.2
cold = torch.empty(64 << 20, dtype=torch.int32, device="cuda")


def measure(run, flop):
    start = time.time()
    while time.time() - start < WARM:
        run()
        torch.cuda.synchronize()
    times = []
    for i in range(ROUNDS):
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        cold.fill_(i)
        first.record()
        run()
        last.record()
        last.synchronize()
        times.append(first.elapsed_time(last))
    times.sort()
    at = lambda part: flop / times[round(part * (ROUNDS - 1))] / 1e9
    return f"{at(0.5):.0f} ({at(0.9):.0f} to {at(0.1):.0f})"


def random(*sizes):
    return (torch.rand(*sizes, device="cuda") * 2 - 1).to(torch.bfloat16)


def heads_of_one_length():
    for width, causal, length in itertools.product((64, 128, 256), (False, True), (4096, 8192, 16384)):
        heads, batch = 2048 // width, 16384 // length
        q, k, v = (random(batch, heads, length, width).requires_grad_() for _ in range(3))
        flop = 4 * batch * heads * length * length * width / (2 if causal else 1)
        attention = lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            with torch.no_grad():
                forward = measure(attention, flop)
            backward = "not measured"
            if "forward" not in sys.argv:
                o = attention()
                g = torch.rand_like(o)
                backward = measure(lambda: torch.autograd.grad(o, (q, k, v), g, retain_graph=True), 2.5 * flop)
        print(f"{batch * heads} heads of {length}x{width}{', causal' if causal else ''}: forward {forward}, backward {backward}", flush=True)


# The lengths of sequences and the number of tokens per page, as in bench/attention_batch.go.
VARIED, PAGE = (5000, 3333, 2500, 2000, 1500, 1000, 700, 351), 128


def batch_of_sequences(cudnn, handle, lengths, width, kv, causal, paged):
    """Returns a function that computes attention, its number of operations, and the error of a head."""
    heads, batch, longest, total = 2048 // width, len(lengths), max(lengths), sum(lengths)
    ints = lambda list: torch.tensor(list, dtype=torch.int32, device="cuda").reshape(-1, 1, 1, 1)
    starts = [0, *itertools.accumulate(lengths)]
    q, o = random(total, heads, width), torch.zeros(total, heads, width, dtype=torch.bfloat16, device="cuda")
    graph = cudnn.pygraph(io_data_type=cudnn.data_type.BFLOAT16, intermediate_data_type=cudnn.data_type.FLOAT,
                          compute_data_type=cudnn.data_type.FLOAT, handle=handle)
    pack, options = {}, {}

    def give(data, **more):
        t = graph.tensor(dim=list(data.shape), stride=list(data.stride()), data_type=more.get("type", cudnn.data_type.INT32))
        pack[t] = data
        return t

    def ragged(data, n):
        t = graph.tensor(dim=[batch, n, longest, width], stride=[longest * n * width, width, n * width, 1],
                         data_type=cudnn.data_type.BFLOAT16)
        t.set_ragged_offset(give(ints([s * n * width for s in starts])))
        pack[t] = data
        return t

    if paged:
        columns = (longest + PAGE - 1) // PAGE
        pages = torch.randperm(batch * columns, device="cuda").to(torch.int32).reshape(batch, 1, columns, 1)
        k, v = (random(batch * columns, PAGE, kv, width).transpose(1, 2) for _ in range(2))
        options = dict(paged_attention_k_table=give(pages), paged_attention_v_table=give(pages.clone()),
                       paged_attention_max_seq_len_kv=longest)
        ks, vs = (give(x, type=cudnn.data_type.BFLOAT16) for x in (k, v))
        rows = lambda x, s: x.transpose(1, 2)[pages[s].flatten().long()].reshape(-1, kv, width)[:lengths[s]]
    else:
        k, v = random(total, kv, width), random(total, kv, width)
        ks, vs = ragged(k, kv), ragged(v, kv)
        rows = lambda x, s: x[starts[s]:starts[s + 1]]
    out, _ = graph.sdpa(name="sdpa", q=ragged(q, heads), k=ks, v=vs, is_inference=True, attn_scale=width**-0.5,
                        use_causal_mask=causal, use_padding_mask=True, seq_len_q=give(ints(lengths)),
                        seq_len_kv=give(ints(lengths)), **options)
    out.set_output(True).set_dim([batch, heads, longest, width]).set_stride([longest * heads * width, width, heads * width, 1])
    out.set_ragged_offset(give(ints([s * heads * width for s in starts])))
    pack[out] = o
    graph.validate()
    graph.build_operation_graph()
    graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
    graph.check_support()
    graph.build_plans()
    workspace = torch.empty(max(1, graph.get_workspace_size()), device="cuda", dtype=torch.uint8)
    run = lambda: graph.execute(pack, workspace, handle=handle)
    run()
    s, head = batch - 1, heads - 1
    x, y, z = (t.float() for t in (q[starts[s]:starts[s + 1], head], rows(k, s)[:, head // (heads // kv)], rows(v, s)[:, head // (heads // kv)]))
    scores = x @ y.T * width**-0.5
    if causal:
        scores += torch.full_like(scores, -torch.inf).triu(1)
    want = scores.softmax(1) @ z
    error = (o[starts[s]:starts[s + 1], head].float() - want).norm() / want.norm()
    return run, 4 * heads * width * sum(n * n for n in lengths) / (2 if causal else 1), error.item()


def batches():
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path = [p for p in sys.path if os.path.abspath(p) != here]  # this file is not the package
    import cudnn
    handle = cudnn.create_handle()
    cudnn.set_stream(handle=handle, stream=torch.cuda.current_stream().cuda_stream)
    cases = [("varied", VARIED, 1, False)]
    for length in (4096, 16384):
        cases += [(f"gqa {length}", (length,) * (16384 // length), 4, False), (f"paged {length}", (length,) * (16384 // length), 4, True)]
    for width, causal, (name, lengths, share, paged) in itertools.product((64, 128, 256), (False, True), cases):
        title = f"{name}, width {width}{', causal' if causal else ''}"
        try:
            run, flop, error = batch_of_sequences(cudnn, handle, lengths, width, 2048 // width // share, causal, paged)
            print(f"{title}: {measure(run, flop)}, error {error:.2g}", flush=True)
        except Exception as e:
            print(f"{title}: {str(e).splitlines()[:2]}", flush=True)


print("torch", torch.__version__, "cuDNN", torch.backends.cudnn.version())
if "batch" in sys.argv:
    batches()
else:
    heads_of_one_length()
