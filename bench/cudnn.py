# Copyright 2026 The ptxdsl Authors
# SPDX-License-Identifier: Apache-2.0
"""Measures attention of PyTorch with cuDNN, for the sizes of `gpubench -only attention`.

Prints the median, and the 10th and 90th percentiles, in TFLOP/s.
"""
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


print("torch", torch.__version__, "cuDNN", torch.backends.cudnn.version())
for width in (64, 128, 256):
    for causal in (False, True):
        for length in (4096, 8192, 16384):
            heads, batch = 2048 // width, 16384 // length
            q, k, v = (
                (torch.rand(batch, heads, length, width, device="cuda") * 2 - 1).to(torch.bfloat16).requires_grad_()
                for _ in range(3)
            )
            flop = 4 * batch * heads * length * length * width / (2 if causal else 1)
            attention = lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
            with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
                with torch.no_grad():
                    forward = measure(attention, flop)
                o = attention()
                g = torch.rand_like(o)
                backward = measure(lambda: torch.autograd.grad(o, (q, k, v), g, retain_graph=True), 2.5 * flop)
            print(f"{batch * heads} heads of {length}x{width}{', causal' if causal else ''}: forward {forward}, backward {backward}", flush=True)
