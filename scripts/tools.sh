#!/usr/bin/env bash
# Copyright 2026 The ptxdsl Authors
# SPDX-License-Identifier: Apache-2.0
#
# usage: scripts/tools.sh [judge] [lint] [corpus] [numpy]
#
# Installs pinned tools under .tools/, each set once:
#   judge   NVIDIA's assembler and disassembler, what the tests need      .tools/judge
#   lint    staticcheck                                                   .tools/lint
#   corpus  the CUDA C++ compiler and Triton, to regenerate the corpus    .tools/corpus
#   numpy   NumPy, to regenerate the references of foreign kernels        .tools/numpy
#
# A set is installed beside its place and renamed, so an interrupted run leaves nothing half done,
# and a stamp with its versions makes a second run a no-op.

set -euo pipefail
cd "$(dirname "$0")/.."

judge_set=(
	nvidia-cuda-nvcc==13.5.37
	nvidia-cuda-nvdisasm==13.5.37
)
corpus_set=(
	nvidia-cuda-nvcc==13.5.37
	nvidia-nvvm==13.5.37
	nvidia-cuda-crt==13.5.37
	nvidia-cuda-runtime==13.5.37
	nvidia-cuda-cccl==13.3.5.0.6
	triton==3.9.0
)
numpy_set=(
	numpy==2.3.4
	ml-dtypes==0.5.3
)
lint_set=(honnef.co/go/tools/cmd/staticcheck@v0.7.0)

fail() {
	echo "tools: $*" >&2
	exit 1
}

# installed SET VERSIONS: is this very set there?
installed() {
	[[ -f .tools/$1/stamp && "$(<".tools/$1/stamp")" == "$2" ]]
}

# place FOLDER SET VERSIONS: stamps a finished folder and swaps it in.
place() {
	printf '%s\n' "$3" >"$1/stamp"
	chmod 755 "$1"
	rm -rf ".tools/$2"
	mv -T "$1" ".tools/$2"
	echo "tools: installed .tools/$2: $3" >&2
}

# wheels SET PACKAGE...: a set that comes from the Python package registry.
wheels() {
	local set=$1
	shift
	installed "$set" "$*" && return
	command -v python3 >/dev/null ||
		fail "python3 is missing; it is needed to install $1 (Debian: apt-get install python3-pip)"
	python3 -m pip --version >/dev/null 2>&1 ||
		fail "python3 has no pip; it is needed to install $1 (Debian: apt-get install python3-pip)"
	local folder
	folder=$(mktemp -d ".tools/.$set.XXXXXX")
	echo "tools: installing $*" >&2
	if ! PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1 python3 -m pip install \
		--quiet --no-deps --no-compile --target "$folder" "$@" >&2; then
		rm -rf "$folder"
		fail "pip could not install $* (is the package registry reachable, and is this linux on x86-64 or arm64?)"
	fi
	if [[ $set != numpy ]] && ! "$folder/nvidia/cu13/bin/ptxas" --version >/dev/null; then
		rm -rf "$folder"
		fail "the ptxas of $1 does not run on this machine"
	fi
	place "$folder" "$set" "$*"
}

# commands SET PACKAGE@VERSION...: a set of Go commands.
commands() {
	local set=$1
	shift
	local versions
	versions="$* $(go env GOVERSION)"
	installed "$set" "$versions" && return
	local folder
	folder=$(mktemp -d ".tools/.$set.XXXXXX")
	echo "tools: building $*" >&2
	if ! GOBIN="$PWD/$folder/bin" GOFLAGS= go install "$@"; then
		rm -rf "$folder"
		fail "go could not build $* (is the module proxy reachable?)"
	fi
	place "$folder" "$set" "$versions"
}

mkdir -p .tools
if command -v flock >/dev/null; then
	exec 9>.tools/lock
	flock 9
fi
for set in "${@:-judge}"; do
	case $set in
	judge) wheels judge "${judge_set[@]}" ;;
	corpus) wheels corpus "${corpus_set[@]}" ;;
	lint) commands lint "${lint_set[@]}" ;;
	numpy) wheels numpy "${numpy_set[@]}" ;;
	*) fail "no set called $set (judge, lint, corpus, numpy)" ;;
	esac
done
