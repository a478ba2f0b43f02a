#!/usr/bin/env bash
# Copyright 2026 The ptxdsl Authors
# SPDX-License-Identifier: Apache-2.0
#
# usage: scripts/fuzz.sh time
#
# Runs every fuzz target of the project for a time, one after the other.

set -euo pipefail
cd "$(dirname "$0")/.."

for package in $(go list ./...); do
	targets=$(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true)
	for target in $targets; do
		echo "fuzz: $package $target for $1"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$1" "$package"
	done
done
