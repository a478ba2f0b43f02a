#!/usr/bin/env bash
# Copyright 2026 The ptxdsl Authors
# SPDX-License-Identifier: Apache-2.0
#
# Fails unless go generate changes nothing. It runs in a copy, so that the tree stays as it is and need not
# be a git tree. The tests of the examples compare their golden files themselves.

set -euo pipefail
cd "$(dirname "$0")/.."

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
tar --exclude=./.git --exclude=./.tools --exclude=./.corpus --exclude=./bin --exclude=./build -cf - . | tar -xf - -C "$copy"
# The copy finds the tools where the project has them.
[[ -d .tools ]] && ln -s "$PWD/.tools" "$copy/.tools"
(cd "$copy" && go generate ./...)
if ! diff -r --exclude=.git --exclude=.tools --exclude=.corpus --exclude=bin --exclude=build . "$copy"; then
	echo "generated: go generate changes files (run make generate and keep the result)" >&2
	exit 1
fi
