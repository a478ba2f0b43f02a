// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package driver

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/ebitengine/purego"

	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// Find opens the CUDA driver library of this machine.
func Find() (*Library, error) {
	// dlerror keeps its message per thread, so the thread must not change
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var tried []string
	for _, path := range []string{"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"} {
		handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err != nil {
			tried = append(tried, err.Error())
			continue
		}
		l, err := With(TableOf(func(symbol string) func([]uintptr) uintptr {
			address, err := purego.Dlsym(handle, symbol)
			if err != nil {
				return nil
			}
			return func(args []uintptr) uintptr {
				result, _, _ := purego.SyscallN(address, args...)
				return result
			}
		}))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return l, nil
	}
	return nil, fmt.Errorf(
		"%w: this machine has no CUDA driver (%s); it comes with the driver of an NVIDIA GPU",
		device.ErrAbsent, strings.Join(tried, "; "))
}
