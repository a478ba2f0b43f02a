// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package driver

import (
	"fmt"
	"runtime"

	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// Find returns an error, because the CUDA driver is only supported on Linux.
func Find() (*Library, error) {
	return nil, fmt.Errorf("%w: the CUDA driver is supported only on Linux, and this is %s",
		device.ErrAbsent, runtime.GOOS)
}
