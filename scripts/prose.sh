#!/usr/bin/env bash
# Copyright 2026 The ptxdsl Authors
# SPDX-License-Identifier: Apache-2.0
#
# usage: scripts/prose.sh
#
# Checks the hand-written documentation: no phrase of scripts/banned.txt, and lines of at most 100
# columns. Tables, code blocks, images and lines with a single long link may be longer. Generated
# pages are not checked.

set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t pages < <(find README.md CONTRIBUTING.md docs bench/results -name '*.md' | sort)
banned=$(grep -v '^$' scripts/banned.txt | paste -sd '|')
status=0
for page in "${pages[@]}"; do
	# The report of make agree has no such line.
	if [[ $page == docs/reference/agree.md ]] || head -1 "$page" | grep -q '^<!-- Generated'; then
		continue
	fi
	if ! awk -v page="$page" -v banned="$banned" '
		/^ *```/ { code = !code; next }
		code { next }
		tolower($0) ~ "(^|[^a-z])(" banned ")([^a-z]|$)" {
			printf "prose: %s:%d: banned phrase: %s\n", page, NR, $0
			bad = 1
		}
		length($0) > 100 && !/^ *[|!<]/ && !/^ *[-*]? *\[[^]]*\]\([^)]*\)[.;:]?$/ {
			printf "prose: %s:%d: %d columns\n", page, NR, length($0)
			bad = 1
		}
		END { exit bad }
	' "$page" >&2; then
		status=1
	fi
done
exit $status
