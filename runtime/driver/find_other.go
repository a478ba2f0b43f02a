// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package driver

import (
	"fmt"
	"runtime"

	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// Find opens the CUDA driver of this machine.
func Find() (*Library, error) {
	return nil, fmt.Errorf("%w: the CUDA driver is supported only on Linux, and this is %s",
		device.ErrAbsent, runtime.GOOS)
}
