# Copyright 2026 The ptxdsl Authors
# SPDX-License-Identifier: Apache-2.0
"""usage: harvest.py [-tools FOLDER] [-build FOLDER] [-match REGEXP] ARCHIVE

Compiles the kernels of ../cuda and ../triton to PTX, computes what each must leave in memory with
NumPy, and writes both to an archive. No GPU is needed. It needs `scripts/tools.sh corpus numpy`,
and PYTHONPATH with both folders.
"""

import argparse
import bz2
import concurrent.futures
import hashlib
import importlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

import numpy as np

from cases import CASES, FLOATS, TYPES, Rule, seed_of

HERE = pathlib.Path(__file__).resolve().parent.parent
PLACE = pathlib.Path("/tmp/ptxdsl-foreign")  # compilers write paths into PTX: one place for all

VARIANTS = {
    "": [], "O0": ["-Xcicc", "-O0"], "O1": ["-Xcicc", "-O1"], "debug": ["-G"],
    "fast": ["--use_fast_math"], "nofma": ["-fmad=false"], "lines": ["-lineinfo"],
    "rdc": ["-rdc=true"],
}


def nvcc(tools, source, target, variant, out):
    """Compiles a CUDA C++ file."""
    command = [str(tools / "nvidia/cu13/bin/nvcc"), "-ptx", "-std=c++20", "-w", "-arch=" + target,
               "--extended-lambda", "--expt-relaxed-constexpr", *VARIANTS[variant],
               "-o", str(out), source]
    done = subprocess.run(command, cwd=PLACE / "cuda", capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{source} {target} {variant}:\n" + (done.stdout + done.stderr)[:3000])


def cuda_units(cases):
    """Returns the files to compile: source, target, variant."""
    units = []
    for c in cases:
        if c.source.endswith(".cu"):
            for t in c.targets:
                target, _, variant = t.partition("-")
                unit = (c.source, target, variant)
                if unit not in units:
                    units.append(unit)
    return units


def file_name(source, target, variant):
    return ".".join([source.rsplit(".", 1)[0], target] + ([variant] if variant else [])) + ".ptx"


def compile_cuda(tools, build, cases):
    """Compiles what is missing or older than its source."""
    jobs = []
    for source, target, variant in cuda_units(cases):
        out = build / file_name(source, target, variant)
        path = HERE / "cuda" / source
        if not out.exists() or out.stat().st_mtime < path.stat().st_mtime:
            jobs.append((source, target, variant, out))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        waits = [(j, pool.submit(nvcc, tools, *j)) for j in jobs]
        for job, wait in waits:
            try:
                wait.result()
                print("compiled", job[3].name, flush=True)
            except RuntimeError as e:
                print(e, file=sys.stderr, flush=True)


def arguments(c, stored):
    """Makes the inputs of a case. Returns them, and their description for the archive."""
    values, rows = [], []
    for i, a in enumerate(c.args):
        row = {"role": a.role, "type": a.dtype, **a.more}
        if a.role == "num":
            values.append(TYPES[a.dtype](a.more["value"]))
        elif a.role == "map":
            values.append(None)
        else:
            seed = seed_of(f"{c.source}/{c.name}/{i}")
            row["count"] = a.count
            if isinstance(a.rule, Rule):
                values.append(a.rule.make(a.dtype, seed, a.count))
                row["rule"] = {"kind": a.rule.kind, "seed": str(seed)} | {
                    k: str(v) for k, v in a.rule.values.items()}
            else:
                data = np.ascontiguousarray(a.rule, TYPES[a.dtype]).reshape(-1)
                assert data.size == a.count, (c.name, i, data.size)
                values.append(data.copy())
                row["rule"] = {"kind": "stored", "file": store(stored, data.tobytes())}
        rows.append(row)
    return values, rows


def store(stored, data):
    """Keeps bytes under their hash."""
    name = hashlib.sha256(data).hexdigest()[:24]
    stored[name] = data
    return name


def expect(c, values, rows, stored):
    """Computes the results of a case with NumPy and adds them to the description."""
    given = [v.copy() if isinstance(v, np.ndarray) else v for v in values]
    results = c.ref(*[v for v in given if v is not None])
    results = results if isinstance(results, tuple) else (results,)
    outs = [i for i, a in enumerate(c.args) if a.role == "out"]
    assert len(outs) == len(results), (c.name, len(outs), len(results))
    for i, result in zip(outs, results):
        a = c.args[i]
        exact = a.more["abs"] == 0 and a.more["rel"] == 0
        dtype = TYPES[a.dtype]
        if exact:
            data = np.asarray(result).reshape(-1).astype(dtype)
        else:  # kept as float32, or float64 for that type
            assert a.dtype in FLOATS, (c.name, i)
            data = np.asarray(result, np.float64).reshape(-1)
            data = data.astype(np.float64 if a.dtype == "f64" else np.float32)
        assert data.size == a.count, (c.name, i, data.size, a.count)
        if exact and data.nbytes > 64:
            rows[i]["sha256"] = hashlib.sha256(data.tobytes()).hexdigest()
        else:
            rows[i]["want"] = store(stored, data.tobytes())


def complete(row, path):
    """Adds what Triton's launcher knows: threads, shared memory, shapes of tensors and scratch."""
    facts = json.loads(path.with_name(path.name + ".json").read_text())
    threads = re.search(r"\.(?:req|max)ntid (\d+)", path.read_text())
    row["block"], row["shared"], maps = [int(threads[1]), 1, 1], facts["shared"], facts["maps"]
    args, shown = [], []
    for a in row["args"]:
        args.append(dict(a))
        if a["role"] == "map":
            m = maps.pop(0) if maps else None
            args[-1]["box"] = m["block_size"]
            args[-1]["swizzle"] = [0, 32, 64, 128][m["swizzle"]]
            sizes = a["sizes"]
            shown.append((len(args), [("s32", n) for n in sizes] + [
                ("s64", int(np.prod(sizes[i + 1:]))) for i in range(len(sizes))]))
    for at, numbers in reversed(shown):
        args[at:at] = [{"role": "num", "type": t, "value": v} for t, v in numbers]
    blocks = int(np.prod(row["grid"]))
    for size in facts["scratch"] * blocks, 0:
        args.append({"role": "in", "type": "u8", "count": max(size, 128),
                     "rule": {"kind": "const", "value": "0", "seed": "0"}})
    row["args"] = args
    row.pop("triton", None)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-tools", default=".tools/corpus")
    parser.add_argument("-build", default="build/foreign")
    parser.add_argument("-match", default="")
    parser.add_argument("archive")
    o = parser.parse_args()
    tools, build = pathlib.Path(o.tools).resolve(), pathlib.Path(o.build).resolve()
    build.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir()
    shutil.copytree(HERE / "cuda", PLACE / "cuda")
    shutil.copytree(HERE / "triton", PLACE / "triton")
    for path in sorted((HERE / "reference").glob("cases_*.py")):
        importlib.import_module(path.stem)
    wanted = [c for c in CASES if re.search(o.match, c.source + "/" + c.name)]
    compile_cuda(tools, build, wanted)
    if any(not c.source.endswith(".cu") for c in wanted):
        importlib.import_module("compile_triton").compile_all(build, PLACE, wanted)
    stored, rows, files, missing = {}, [], {}, 0
    for c in sorted(wanted, key=lambda c: (c.source, c.name)):
        values, args = arguments(c, stored)
        expect(c, values, args, stored)
        for t in c.targets:
            target, _, variant = t.partition("-")
            row = {"name": c.name, "source": c.source, "kernel": c.kernel, "target": target,
                   "variant": variant, "grid": c.grid, "block": c.block, "args": args, **c.more}
            if c.source.endswith(".cu"):
                row["compiler"] = "nvcc"
                row["ptx"] = file_name(c.source, target, variant)
            else:
                row["compiler"] = "triton"
                row["ptx"] = f"{c.name}.{target}.ptx"
                if (build / row["ptx"]).exists():
                    complete(row, build / row["ptx"])
            path = build / row["ptx"]
            if not path.exists():
                print("missing", row["ptx"], c.name, file=sys.stderr)
                missing += 1
                continue
            files["ptx/" + row["ptx"]] = path.read_bytes()
            rows.append(row)
    versions = dict(line.split("==") for line in (tools / "stamp").read_text().split())
    manifest = {"compilers": {"nvcc": versions["nvidia-cuda-nvcc"], "triton": versions["triton"]},
                "cases": rows}
    files["manifest.json"] = json.dumps(manifest, separators=(",", ":"), sort_keys=True).encode()
    files |= {"data/" + k: v for k, v in stored.items()}
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in sorted(files):
            info = tarfile.TarInfo(name)
            info.size = len(files[name])
            tar.addfile(info, io.BytesIO(files[name]))
    pathlib.Path(o.archive).write_bytes(bz2.compress(plain.getvalue()))
    print(f"{len(rows)} cases, {len(files)} files, {os.path.getsize(o.archive)} bytes, {missing} missing")
    sys.exit(1 if missing else 0)


if __name__ == "__main__":
    main()
