// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package fakecuda

import (
	"strings"
	"unsafe"
)

func (d *Driver) moduleFunctions() map[string]func(a []uintptr) uintptr {
	return map[string]func(a []uintptr) uintptr{
		"cuModuleLoadDataEx": func(a []uintptr) uintptr {
			image := text(a[1])
			if d.Reject || strings.Contains(image, "!;") {
				d.log(a[2], a[3], a[4])
				return invalidPTX
			}
			m := d.make("module")
			d.modules[m] = image
			put(a[0], m)
			return ok
		},
		"cuModuleUnload": func(a []uintptr) uintptr {
			if d.handles[uint64(a[0])] != "module" {
				return invalidHandle
			}
			delete(d.handles, uint64(a[0]))
			return ok
		},
		"cuModuleGetFunction": func(a []uintptr) uintptr {
			name := text(a[2])
			if _, declared := d.Params[name]; declared &&
				strings.HasPrefix(d.modules[uint64(a[1])], "\x7fELF") {
				f := d.make("function")
				d.functions[f] = name
				put(a[0], f)
				return ok
			}
			for _, m := range entry.FindAllStringSubmatch(d.modules[uint64(a[1])], -1) {
				if m[1] == name {
					f := d.make("function")
					d.functions[f] = name
					put(a[0], f)
					return ok
				}
			}
			return notFound
		},
		"cuModuleGetGlobal_v2": func(a []uintptr) uintptr {
			if !strings.Contains(d.modules[uint64(a[2])], text(a[3])) {
				return notFound
			}
			d.next += 0x1000
			d.variables[d.next] = make([]byte, 64)
			put(a[0], d.next)
			put(a[1], uint64(64))
			return ok
		},
		"cuFuncGetAttribute": func(a []uintptr) uintptr {
			put(a[0], map[uintptr]int32{0: 1024, 1: 0, 3: 0, 4: 32}[a[1]])
			return ok
		},
		"cuFuncGetParamInfo": func(a []uintptr) uintptr {
			kernel := d.functions[uint64(a[0])]
			if int(a[1]) >= len(d.Params[kernel]) {
				return invalidValue
			}
			put(a[2], uint64(d.offset(kernel, int(a[1]))))
			put(a[3], uint64(d.Params[kernel][a[1]]))
			return ok
		},
		"cuOccupancyMaxActiveBlocksPerMultiprocessor": func(a []uintptr) uintptr {
			put(a[0], int32(2048/a[2]))
			return ok
		},
		"cuOccupancyMaxActiveClusters": func(a []uintptr) uintptr {
			put(a[0], int32(66))
			return ok
		},
		"cuLaunchKernel": func(a []uintptr) uintptr {
			l := Launch{Kernel: d.functions[uint64(a[0])],
				Grid:  [3]uint32{uint32(a[1]), uint32(a[2]), uint32(a[3])},
				Block: [3]uint32{uint32(a[4]), uint32(a[5]), uint32(a[6])}, Shared: uint32(a[7]),
				Stream: uint64(a[8])}
			return d.launch(l, a[9], a[10])
		},
		"cuLaunchKernelEx": func(a []uintptr) uintptr {
			c := (*config)(pointer(a[0]))
			l := Launch{Kernel: d.functions[uint64(a[1])], Grid: c.grid, Block: c.block,
				Shared: c.shared, Stream: c.stream, Attributes: make(map[uint32][4]uint32)}
			for _, e := range unsafe.Slice(c.attributes, c.count) {
				l.Attributes[e.id] = [4]uint32(e.value[:4])
			}
			return d.launch(l, a[2], a[3])
		},
	}
}

// attribute and config have the memory layouts of CUlaunchAttribute and CUlaunchConfig.
type attribute struct {
	id    uint32
	_     uint32
	value [16]uint32
}

type config struct {
	grid, block [3]uint32
	shared      uint32
	_           uint32
	stream      uint64
	attributes  *attribute
	count       uint32
	_           uint32
}

// log writes the assembler's message to the buffer among the options of cuModuleLoadDataEx.
func (d *Driver) log(count, options, values uintptr) {
	for i := range count {
		option := *(*uint32)(unsafe.Add(pointer(options), 4*i))
		value := *(*uintptr)(unsafe.Add(pointer(values), 8*i))
		if option == 5 {
			copy(read(value, uintptr(len(d.Log)+1)), d.Log+"\x00")
		}
	}
}

// offset returns the offset of parameter i of a kernel, aligned to the largest power of two that
// divides its size.
func (d *Driver) offset(kernel string, i int) int {
	end, at := 0, 0
	for _, n := range d.Params[kernel][:i+1] {
		align := min(n&-n, 64)
		at = (end + align - 1) / align * align
		end = at + n
	}
	return at
}

// launch records a launch with pointers to its arguments. Arguments in one buffer
// (CU_LAUNCH_PARAM_BUFFER_POINTER) are not supported.
func (d *Driver) launch(l Launch, arguments, extra uintptr) uintptr {
	if l.Kernel == "" {
		return invalidHandle
	}
	sizes := d.Params[l.Kernel]
	if extra != 0 || arguments == 0 && len(sizes) > 0 {
		return invalidValue
	}
	for i, n := range sizes {
		at := d.offset(l.Kernel, i)
		l.Values = append(l.Values, make([]byte, at-len(l.Values))...)
		l.Values = append(l.Values,
			read(*(*uintptr)(unsafe.Add(pointer(arguments), 8*i)), uintptr(n))...)
	}
	work := func() {
		d.launches = append(d.launches, l)
		if f := d.Kernels[l.Kernel]; f != nil {
			f(d, l)
		}
	}
	if list, recording := d.recording[l.Stream]; recording {
		d.recording[l.Stream] = append(list, work)
		return ok
	}
	work()
	return ok
}

// Lose makes every later call fail, as after an illegal access in a kernel. A kernel function may
// call it.
func (d *Driver) Lose() { d.lostCode = illegal }
