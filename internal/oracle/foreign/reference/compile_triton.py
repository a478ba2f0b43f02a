# Copyright 2026 The ptxdsl Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiles the Triton half. Beside each PTX file it writes what the launch needs to know."""

import importlib
import json
import os
import sys

NAMES = {"f32": "fp32", "f64": "fp64", "f16": "fp16", "bf16": "bf16", "e4m3": "fp8e4nv", "e5m2": "fp8e5",
         "s8": "i8", "u8": "u8", "s16": "i16", "s32": "i32", "u32": "u32", "s64": "i64", "u64": "u64"}
SWIZZLES = {0: 0, 1: 32, 2: 64, 3: 128}


def signature(c, names):
    """Returns the types of the arguments, and which are multiples of 16."""
    types, attrs = {}, {}
    shown = [a for a in c.args if not a.more.get("hidden")]
    assert len(shown) + len(c.more["triton"]["constants"]) == len(names), (c.name, names)
    constants = c.more["triton"]["constants"]
    for i, name in enumerate(names):
        if name in constants:
            types[name] = "constexpr"
            continue
        a = shown.pop(0)
        if a.role == "map":
            types[name] = f"tensordesc<{NAMES[a.dtype]}{a.more['box']}>"
        elif a.role == "num":
            types[name] = NAMES[a.dtype]
            if a.dtype[0] in "su" and a.more["value"] % 16 == 0:
                attrs[(i,)] = [["tt.divisibility", 16]]
        else:
            types[name] = "*" + NAMES[a.dtype]
            attrs[(i,)] = [["tt.divisibility", 16]]
    return types, attrs


def compile_all(build, place, cases):
    os.environ["TRITON_CACHE_DIR"] = str(place / "cache")
    sys.path.insert(0, str(place / "triton"))
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    here = os.path.dirname(os.path.abspath(__file__))
    for c in cases:
        if c.source.endswith(".cu"):
            continue
        source = os.path.join(here, "../triton", c.source)
        function = getattr(importlib.import_module(c.source.removesuffix(".py")), c.kernel)
        more = c.more["triton"]
        types, attrs = signature(c, function.arg_names)
        for target in c.targets:
            out = build / f"{c.name}.{target}.ptx"
            facts = build / f"{c.name}.{target}.ptx.json"
            recipe = repr((types, sorted(attrs), more))
            if out.exists() and facts.exists() and out.stat().st_mtime > os.path.getmtime(source):
                if json.loads(facts.read_text())["recipe"] == recipe:
                    continue
            cap = int(target.removeprefix("sm_").rstrip("a"))
            try:
                made = triton.compile(
                    ASTSource(fn=function, signature=types, constexprs=more["constants"], attrs=attrs),
                    target=GPUTarget("cuda", cap, 32), options=more["options"])
            except Exception as e:
                text = str(e).strip().splitlines() or [type(e).__name__]
                print(f"{c.name} {target}: {text[0][:200]} ... {text[-1][:200]}", file=sys.stderr, flush=True)
                continue
            m = made.metadata
            warps = getattr(m, "num_warps", 4)
            facts.write_text(json.dumps({
                "recipe": recipe, "shared": m.shared, "scratch": m.global_scratch_size,
                "warps": warps, "maps": [dict(d) for d in (getattr(m, "tensordesc_meta", None) or [])],
            }, default=str))
            out.write_text(made.asm["ptx"])
            print("compiled", out.name, m.shared, m.global_scratch_size, flush=True)
