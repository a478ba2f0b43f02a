#!/usr/bin/env bash
# Copyright 2026 The ptxdsl Authors
# SPDX-License-Identifier: Apache-2.0
#
# usage: scripts/gotest.sh go-test-arguments...
#
# go test, but a skipped test is a failure: what CI can run, it runs. Prints one line a package and
# the output of what failed or was skipped.

set -euo pipefail
cd "$(dirname "$0")/.."

log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
# scripts/style.sh runs all of go vet.
go test -timeout 20m -vet=off -v "$@" >"$log" 2>&1 || status=$?
skipped=$(grep -cE '^[[:space:]]*--- SKIP' "$log" || true)
grep -E '^(ok|FAIL|panic|---? ?FAIL|\?)[[:space:]]' "$log" | grep -v 'no test files' || true
if [[ $status -ne 0 ]]; then
	echo "gotest: go test $* failed:" >&2
	# Passing tests and their output are noise here.
	grep -vE '^[[:space:]]*(=== |--- PASS)' "$log" | tail -400 >&2
	exit "$status"
fi
if [[ $skipped -ne 0 ]]; then
	echo "gotest: $skipped tests were skipped, and none may be:" >&2
	grep -A3 -E '^[[:space:]]*--- SKIP' "$log" >&2
	exit 1
fi
echo "gotest: $(grep -cE '^[[:space:]]*--- PASS' "$log") tests passed, 0 skipped"
