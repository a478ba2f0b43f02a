#!/usr/bin/env bash
# Copyright 2026 The ptxdsl Authors
# SPDX-License-Identifier: Apache-2.0
#
# Builds the runtime with the emulator, the command and an example without cgo, for each platform
# that they support. The build cache makes a second run cheap.

set -euo pipefail
cd "$(dirname "$0")/.."

for platform in ${PLATFORMS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64}; do
	CGO_ENABLED=0 GOOS=${platform%/*} GOARCH=${platform#*/} \
		go build -o /dev/null ./runtime/... ./examples/02_saxpy/...
	CGO_ENABLED=0 GOOS=${platform%/*} GOARCH=${platform#*/} go build -o /dev/null ./cmd/ptxdsl
	echo "cross: $platform"
done
