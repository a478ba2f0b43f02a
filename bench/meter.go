// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"slices"
	"sync"
	"time"
	"unsafe"
)

// A meter reads clocks and power through NVML, NVIDIA's management library.
type meter struct {
	origin string
	nvml   *library
	device uintptr
}

// newMeter returns a meter for the GPU with a PCI bus id. If NVML is missing, the meter returns
// zeros.
func newMeter(bus string) *meter {
	l, err := load(nil, []string{"libnvidia-ml.so.1"}, "nvmlInit_v2", "nvmlShutdown",
		"nvmlDeviceGetHandleByPciBusId_v2", "nvmlDeviceGetClockInfo", "nvmlDeviceGetPowerUsage")
	if err != nil {
		return &meter{origin: "no clocks: " + err.Error()}
	}
	m := &meter{origin: "clocks from " + l.path, nvml: l}
	name := append([]byte(bus), 0)
	err = l.call("nvmlInit_v2")
	if err == nil {
		err = l.call("nvmlDeviceGetHandleByPciBusId_v2", uintptr(unsafe.Pointer(&name[0])),
			uintptr(unsafe.Pointer(&m.device)))
	}
	if err != nil {
		return &meter{origin: "no clocks: " + err.Error()}
	}
	return m
}

func (m *meter) close() {
	if m.nvml != nil {
		_ = m.nvml.call("nvmlShutdown") // a failure has no consequences
	}
}

// watch starts to take readings. The function that it returns stops the readings and returns
// their medians.
func (m *meter) watch() func() (clock, watt int) {
	if m.nvml == nil {
		return func() (int, int) { return 0, 0 }
	}
	const multiprocessors = 1 // index of the SM clock
	var clocks, powers []uint32
	done := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			var clock, power uint32
			if m.nvml.call("nvmlDeviceGetClockInfo", m.device, multiprocessors,
				uintptr(unsafe.Pointer(&clock))) == nil {
				clocks = append(clocks, clock)
			}
			if m.nvml.call("nvmlDeviceGetPowerUsage", m.device,
				uintptr(unsafe.Pointer(&power))) == nil {
				powers = append(powers, power)
			}
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	})
	return func() (int, int) {
		close(done)
		group.Wait()
		middle := func(list []uint32) int {
			if len(list) == 0 {
				return 0
			}
			slices.Sort(list)
			return int(list[len(list)/2])
		}
		return middle(clocks), middle(powers) / 1000
	}
}
