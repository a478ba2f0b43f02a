// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package fakecuda

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unsafe"
)

// CUresult codes that the functions return.
const (
	ok            = 0
	invalidValue  = 1
	outOfMemory   = 2
	invalidPTX    = 218
	invalidHandle = 400
	notFound      = 500
	illegal       = 700
)

// functionsBySymbol returns the functions that are not just successful no-ops. The mutex is held
// when they are called.
func (d *Driver) functionsBySymbol() map[string]func(a []uintptr) uintptr {
	all := map[string]func(a []uintptr) uintptr{
		"cuDriverGetVersion": func(a []uintptr) uintptr { put(a[0], int32(d.Version)); return ok },
		"cuGetErrorName":     func(a []uintptr) uintptr { return d.errorText(a, false) },
		"cuGetErrorString":   func(a []uintptr) uintptr { return d.errorText(a, true) },
	}
	for _, part := range []map[string]func(a []uintptr) uintptr{d.deviceFunctions(),
		d.memoryFunctions(), d.streamFunctions(), d.moduleFunctions()} {
		for symbol, f := range part {
			all[symbol] = func(a []uintptr) uintptr {
				if d.lostCode != 0 && !strings.HasPrefix(symbol, "cuDevice") {
					return d.lostCode
				}
				return f(a)
			}
		}
	}
	return all
}

func (d *Driver) errorText(a []uintptr, long bool) uintptr {
	name, text := names(a[0])
	key := a[0] << 1
	if long {
		name, key = text, key|1
	}
	if d.texts[key] == nil {
		d.texts[key] = &append([]byte(name), 0)[0]
	}
	put(a[1], d.texts[key])
	return ok
}

func (d *Driver) deviceFunctions() map[string]func(a []uintptr) uintptr {
	attributes := map[int]int{1: 1024, 2: 1024, 3: 1024, 4: 64, 5: 1<<31 - 1, 6: 65535, 7: 65535,
		8: 49152, 10: 32, 12: 65536, 13: 1980000, 16: 132,
		36: 3201000, 37: 6144, 38: 60 << 20, 39: 2048, 41: 1, 75: 9, 76: 0, 81: 233472, 95: 1,
		97: 232448, 106: 32, 120: 1, 127: 1}
	return map[string]func(a []uintptr) uintptr{
		"cuDeviceGetCount": func(a []uintptr) uintptr { put(a[0], int32(d.GPUs)); return ok },
		"cuDeviceGet":      func(a []uintptr) uintptr { put(a[0], int32(a[1])); return ok },
		"cuDeviceGetName": func(a []uintptr) uintptr {
			copy(read(a[0], a[1]), "Pretended H200\x00")
			return ok
		},
		"cuDeviceGetPCIBusId": func(a []uintptr) uintptr {
			copy(read(a[0], a[1]), "0000:01:00.0\x00")
			return ok
		},
		"cuDeviceTotalMem_v2": func(a []uintptr) uintptr { put(a[0], uint64(d.Memory)); return ok },
		"cuDeviceGetAttribute": func(a []uintptr) uintptr {
			v, known := d.Attributes[int(a[1])]
			if !known {
				v = attributes[int(a[1])]
			}
			put(a[0], int32(v))
			return ok
		},
		"cuDevicePrimaryCtxRetain": func(a []uintptr) uintptr {
			if d.lostCode != 0 {
				return d.lostCode
			}
			put(a[0], d.make("context"))
			return ok
		},
		"cuDevicePrimaryCtxRelease_v2": func([]uintptr) uintptr { return d.dropContext() },
		"cuMemGetInfo_v2": func(a []uintptr) uintptr {
			put(a[0], uint64(d.Memory-d.used))
			put(a[1], uint64(d.Memory))
			return ok
		},
		"cuDeviceCanAccessPeer": func(a []uintptr) uintptr { put(a[0], int32(1)); return ok },
	}
}

func (d *Driver) dropContext() uintptr {
	for h, kind := range d.handles {
		if kind == "context" {
			delete(d.handles, h)
			return ok
		}
	}
	return invalidValue
}

func (d *Driver) memoryFunctions() map[string]func(a []uintptr) uintptr {
	move := func(to, from []byte) uintptr {
		if to == nil || from == nil {
			return invalidValue
		}
		copy(to, from)
		return ok
	}
	up := func(a []uintptr) uintptr {
		return move(d.Bytes(uint64(a[0]), int(a[2])), read(a[1], a[2]))
	}
	down := func(a []uintptr) uintptr {
		return move(read(a[0], a[2]), d.Bytes(uint64(a[1]), int(a[2])))
	}
	fill := func(width int) func(a []uintptr) uintptr {
		return func(a []uintptr) uintptr {
			to := d.Bytes(uint64(a[0]), int(a[2])*width)
			if to == nil {
				return invalidValue
			}
			var pattern [4]byte
			binary.LittleEndian.PutUint32(pattern[:], uint32(a[1]))
			for i := range to {
				to[i] = pattern[i%width]
			}
			return ok
		}
	}
	return map[string]func(a []uintptr) uintptr{
		"cuMemAlloc_v2": func(a []uintptr) uintptr {
			if int(a[1]) > d.Memory-d.used {
				return outOfMemory
			}
			d.next += (uint64(a[1]) + 0xfff) &^ 0xfff
			d.memory[d.next] = bytes.Repeat([]byte{0xa5}, int(a[1]))
			d.used += int(a[1])
			put(a[0], d.next)
			d.next += uint64(a[1]+0xfff) &^ 0xfff
			return ok
		},
		"cuMemFree_v2": func(a []uintptr) uintptr {
			b := d.memory[uint64(a[0])]
			if b == nil {
				return invalidValue
			}
			d.used -= len(b)
			delete(d.memory, uint64(a[0]))
			return ok
		},
		"cuMemHostAlloc": func(a []uintptr) uintptr {
			b := make([]byte, a[1])
			at := uintptr(unsafe.Pointer(&b[0]))
			d.host[at] = b
			put(a[0], at)
			return ok
		},
		"cuMemFreeHost": func(a []uintptr) uintptr {
			if d.host[a[0]] == nil {
				return invalidValue
			}
			delete(d.host, a[0])
			return ok
		},
		"cuMemcpyHtoD_v2":      up,
		"cuMemcpyHtoDAsync_v2": up,
		"cuMemcpyDtoH_v2":      down,
		"cuMemcpyDtoHAsync_v2": down,
		"cuMemcpyDtoDAsync_v2": func(a []uintptr) uintptr {
			return move(d.Bytes(uint64(a[0]), int(a[2])), d.Bytes(uint64(a[1]), int(a[2])))
		},
		"cuMemcpyPeerAsync": func(a []uintptr) uintptr {
			return move(d.Bytes(uint64(a[0]), int(a[4])), d.Bytes(uint64(a[2]), int(a[4])))
		},
		"cuMemsetD8Async":         fill(1),
		"cuMemsetD16Async":        fill(2),
		"cuMemsetD32Async":        fill(4),
		"cuTensorMapEncodeTiled":  func(a []uintptr) uintptr { return d.encode(a, 0x11) },
		"cuTensorMapEncodeIm2col": func(a []uintptr) uintptr { return d.encode(a, 0x22) },
	}
}

// encode writes the arguments to the tensor map in a format of its own, so that tests can check
// them.
func (d *Driver) encode(a []uintptr, mark byte) uintptr {
	if a[0]%64 != 0 || a[3]%16 != 0 {
		return invalidValue
	}
	b := read(a[0], 128)
	b[0], b[1], b[2] = mark, byte(a[1]), byte(a[2])
	binary.LittleEndian.PutUint64(b[8:], uint64(a[3]))
	binary.LittleEndian.PutUint64(b[16:], *(*uint64)(pointer(a[4])))
	copied := []uint32{uint32(a[8]), uint32(a[9])} // im2col: channels and pixels
	if mark == 0x11 {
		copied = unsafe.Slice((*uint32)(pointer(a[6])), a[2]) // the box, innermost first
	}
	for i, n := range copied {
		binary.LittleEndian.PutUint16(b[24+2*i:], uint16(n))
	}
	last := a[len(a)-4:] // interleave, swizzle, promotion, fill
	for i, v := range last {
		b[3+i] = byte(v)
	}
	return ok
}

func (d *Driver) streamFunctions() map[string]func(a []uintptr) uintptr {
	open := func(kind string) func(a []uintptr) uintptr {
		return func(a []uintptr) uintptr { put(a[0], d.make(kind)); return ok }
	}
	drop := func(kind string) func(a []uintptr) uintptr {
		return func(a []uintptr) uintptr {
			if d.handles[uint64(a[0])] != kind {
				return invalidHandle
			}
			delete(d.handles, uint64(a[0]))
			return ok
		}
	}
	return map[string]func(a []uintptr) uintptr{
		"cuStreamCreateWithPriority": open("stream"),
		"cuStreamDestroy_v2":         drop("stream"),
		"cuEventCreate":              open("event"),
		"cuEventDestroy_v2":          drop("event"),
		"cuEventElapsedTime": func(a []uintptr) uintptr {
			put(a[0], float32(1.5))
			return ok
		},
		"cuStreamBeginCapture_v2": func(a []uintptr) uintptr {
			if d.handles[uint64(a[0])] != "stream" {
				return invalidHandle
			}
			d.recording[uint64(a[0])] = []func(){}
			return ok
		},
		"cuStreamEndCapture": func(a []uintptr) uintptr {
			work, yes := d.recording[uint64(a[0])]
			if !yes {
				return invalidValue
			}
			delete(d.recording, uint64(a[0]))
			g := d.make("graph")
			d.graphs[g] = work
			put(a[1], g)
			return ok
		},
		"cuGraphInstantiateWithFlags": func(a []uintptr) uintptr {
			e := d.make("exec")
			d.graphs[e] = d.graphs[uint64(a[1])]
			put(a[0], e)
			return ok
		},
		"cuGraphLaunch": func(a []uintptr) uintptr {
			if d.handles[uint64(a[0])] != "exec" {
				return invalidHandle
			}
			for _, work := range d.graphs[uint64(a[0])] {
				work()
			}
			return ok
		},
		"cuGraphExecDestroy": drop("exec"),
		"cuGraphDestroy":     drop("graph"),
	}
}
