#!/usr/bin/env bash
# Copyright 2026 The ptxdsl Authors
# SPDX-License-Identifier: Apache-2.0
#
# Fails unless go.mod and go.sum are tidy, and every Go file is formatted, carries the licence, and passes vet and staticcheck.

set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t files < <(find . -name '*.go' -not -path './.*' -not -path '*/testdata/*' | sort)
status=0
unformatted=$(gofmt -l "${files[@]}")
if [[ -n $unformatted ]]; then
	printf 'style: not formatted (gofmt -w them):\n%s\n' "$unformatted" >&2
	status=1
fi
for file in "${files[@]}"; do
	if ! head -8 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0'; then
		echo "style: no licence at the top of $file" >&2
		status=1
	fi
done
scripts/prose.sh || status=1
go mod tidy -diff || status=1
go vet ./... || status=1
.tools/lint/bin/staticcheck ./... || status=1
exit $status
