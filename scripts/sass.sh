#!/usr/bin/env bash
# Copyright 2026 The ptxdsl Authors
# SPDX-License-Identifier: Apache-2.0
#
# usage: scripts/sass.sh [sm_90 ...]
#
# Prints the table of bench/results/sass.md: instructions, those of the longest loop, and registers of the first examples, as nvcc -O3 makes them of
# scripts/sass/natural.cu and as ptxas makes them of the golden files. NVCC, PTXAS and NVDISASM name the programs, where they are not those that make tools
# fetched.

set -euo pipefail
cd "$(dirname "$0")/.."

nvcc=${NVCC:-.tools/corpus/nvidia/cu13/bin/nvcc}
ptxas=${PTXAS:-.tools/judge/nvidia/cu13/bin/ptxas}
nvdisasm=${NVDISASM:-.tools/judge/nvidia/cu13/bin/nvdisasm}
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT

# counts CUBIN prints for each kernel its instructions, without those that fill up its end, and those of its longest loop.
counts() {
	"$nvdisasm" -c "$1" | awk '
		function done() { if (name != "") print name, n, longest }
		/^[ \t]*\.section[ \t]+\.text\./ { done(); name = $2; sub(/^\.text\./, "", name); sub(/,.*/, "", name); n = longest = 0; delete at; next }
		/^\.L_x_[0-9]+:/ { label = $1; sub(/:.*/, "", label); at[label] = n; next }
		/^[ \t]*\/\*[0-9a-f]+\*\/[ \t]/ {
			if ($0 ~ / NOP/) next
			if ($0 ~ /BRA/ && match($0, /\.L_x_[0-9]+/)) {
				to = substr($0, RSTART, RLENGTH)
				if (to in at) {
					if (at[to] == n) next # the end, which goes nowhere
					if (n - at[to] + 1 > longest) longest = n - at[to] + 1
				}
			}
			n++
		}
		END { done() }'
}

# registers prints for each kernel that ptxas -v speaks of its registers, and its bytes of spilled ones.
registers() {
	awk '/Compiling entry function/ { split($0, part, "\047"); name = part[2] }
		/bytes spill stores/ { spill = $5 }
		/Used [0-9]+ registers/ { match($0, /Used [0-9]+/); print name, substr($0, RSTART + 5, RLENGTH - 5), spill }'
}

# ours TARGET prints the golden files of the examples.
ours() {
	ls examples/01_vecadd/testdata/vecadd."$1".ptx examples/02_saxpy/testdata/saxpy."$1".ptx examples/03_transpose/testdata/transpose."$1".ptx \
		examples/04_reduce/testdata/reduce."$1".ptx examples/05_scan/testdata/scan."$1".ptx examples/06_histogram/testdata/histogram."$1".ptx \
		examples/07_softmax/testdata/softmax_f32_4096."$1".ptx examples/08_rmsnorm/testdata/rmsnorm_bf16_4096."$1".ptx \
		examples/09_matmul_simt/testdata/matmul_simt."$1".ptx examples/10_matmul_ladder/testdata/v0."$1"{,a}.ptx \
		examples/11_clusters/testdata/clusters."$1".ptx 2>/dev/null || true
}

echo "| kernel | target | instructions: CUDA | ours | longest loop: CUDA | ours | registers: CUDA | ours |"
echo "|---|---|---:|---:|---:|---:|---:|---:|"
for target in "${@:-sm_80 sm_90 sm_100 sm_120}"; do
	for t in $target; do
		"$nvcc" -O3 -cubin -arch="$t" -Xptxas -v -o "$room/cuda.cubin" scripts/sass/natural.cu 2>&1 | registers | sort >"$room/cuda.registers"
		counts "$room/cuda.cubin" | sort | join - "$room/cuda.registers" >"$room/cuda"
		: >"$room/ours"
		for f in $(ours "$t"); do
			arch=$t
			[[ $f == *a.ptx ]] && arch=${t}a
			"$ptxas" -v -arch="$arch" -o "$room/ours.cubin" "$f" 2>&1 | registers | sort >"$room/ours.registers"
			counts "$room/ours.cubin" | sort | join - "$room/ours.registers" | sed "s/^/$(basename "$(dirname "$(dirname "$f")")") /" >>"$room/ours"
		done
		while read -r _ kernel n loop r _; do
			awk -v k="$kernel" -v t="$t" -v n="$n" -v l="$loop" -v r="$r" '$1 == k { printf "| %s | %s | %d | %d | %s | %s | %d | %d |\n", k, t, $2, n, $3 ? $3 : "", l ? l : "", $4, r }' "$room/cuda"
		done <"$room/ours"
	done
done
