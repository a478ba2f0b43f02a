// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"bytes"
	"fmt"
	"math"
	"math/bits"
	"os"

	"github.com/ptxdsl/ptxdsl/isa"
)

// builtins maps the names of functions that CUDA provides, and that no module defines, to their
// decoders.
var builtins = map[string]func(d *decoder, results, in []argument) (step, error){
	"vprintf":      vprintf,
	"__assertfail": assertFail,
	"malloc":       deviceMalloc,
	"free":         deviceFree,
}

// deviceMalloc decodes a call of malloc. Each lane gets a separate allocation.
func deviceMalloc(d *decoder, results, in []argument) (step, error) {
	if len(in) != 1 || len(results) != 1 {
		return nil, fmt.Errorf("malloc takes 1 argument and returns 1 value")
	}
	return func(w *warp, mask uint32) action {
		f := w.cur.frame
		values := w.arguments(mask, f, in)
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			n := values[0][0][l]
			values[0][0][l] = 0 // out of memory
			if n > 0 && n < 1<<40 {
				if r, ok := w.block.grid.device.memory.allocate("", int64(n)); ok {
					values[0][0][l] = r.base
				}
			}
		}
		w.deliver(mask, f, results[0].regs, results[0].at, 8, &values[0])
		w.cur.pc++
		return moved
	}, nil
}

// deviceFree decodes a call of free.
func deviceFree(d *decoder, _, in []argument) (step, error) {
	if len(in) != 1 {
		return nil, fmt.Errorf("free takes 1 argument")
	}
	return func(w *warp, mask uint32) action {
		values := w.arguments(mask, w.cur.frame, in)
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			w.tellFree(l, values[0][0][l])
			if p := values[0][0][l]; p != 0 && !w.block.grid.device.memory.free(p) {
				return w.fault(l, w.nearestAllocation(p),
					"free of 0x%x, which is not the address of an allocation", p)
			}
		}
		w.cur.pc++
		return moved
	}, nil
}

// tellFree reports that a lane frees an allocation: as a write, because other threads must have
// finished their accesses.
func (w *warp) tellFree(lane int, base uint64) {
	r := w.block.grid.device.memory.find(base)
	if !w.observing() || r == nil || r.base != base || len(r.data) == 0 {
		return
	}
	e := w.event(EventWrite, 1<<lane)
	e.Size = uint64(len(r.data))
	e.At[lane] = Address{Space: isa.Global, At: base}
	w.block.grid.observer.Observe(e)
}

// vprintf decodes a call of vprintf, whose format and operands are both in memory.
func vprintf(d *decoder, results, in []argument) (step, error) {
	if len(in) != 2 || len(results) != 1 {
		return nil, fmt.Errorf("vprintf takes 2 arguments and returns 1 value")
	}
	return func(w *warp, mask uint32) action {
		f := w.cur.frame
		values := w.arguments(mask, f, in)
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			text, why := w.format(l, values[0][0][l], values[1][0][l])
			if why != "" {
				return w.fault(l, nil, "vprintf: %s", why)
			}
			w.block.grid.device.print(text)
			values[0][0][l] = uint64(len(text))
		}
		w.deliver(mask, f, results[0].regs, results[0].at, 4, &values[0])
		w.cur.pc++
		return moved
	}, nil
}

// assertFail decodes a call of __assertfail, with the arguments message, file, line, function and
// size of a character.
func assertFail(d *decoder, results, in []argument) (step, error) {
	if len(in) != 5 {
		return nil, fmt.Errorf("__assertfail takes 5 arguments")
	}
	return func(w *warp, mask uint32) action {
		values := w.arguments(mask, w.cur.frame, in)
		l := bits.TrailingZeros32(mask)
		message, _ := w.text(l, values[0][0][l])
		file, _ := w.text(l, values[1][0][l])
		return w.fault(l, nil, "%s:%d: assertion %q failed", file, uint32(values[2][0][l]), message)
	}, nil
}

// bytesAt returns the memory from a generic address to the end of its allocation.
func (w *warp) bytesAt(lane int, address uint64) []byte {
	space, at := spaceOf(address)
	r, off, why := w.locateLane(space, at, 1, lane)
	if why != "" {
		return nil
	}
	return r.data[off:]
}

// text returns the zero-terminated string at a generic address. The result is false if the
// address is invalid.
func (w *warp) text(lane int, address uint64) (string, bool) {
	b := w.bytesAt(lane, address)
	n := bytes.IndexByte(b, 0)
	if n < 0 {
		return "", false
	}
	return string(b[:n]), true
}

// format formats the operands as C's printf does. The second result is an error message, or "".
func (w *warp) format(lane int, format, operands uint64) (string, string) {
	text, ok := w.text(lane, format)
	if !ok {
		return "", fmt.Sprintf("no string is stored at address 0x%x", format)
	}
	var b bytes.Buffer
	at := uint64(0)
	next := func(width uint64) (uint64, bool) {
		at = up(at, width)
		data := w.bytesAt(lane, operands+at)
		at += width
		if uint64(len(data)) < width {
			return 0, false
		}
		return read(data, width), true
	}
	for i := 0; i < len(text); i++ {
		if text[i] != '%' {
			b.WriteByte(text[i])
			continue
		}
		verb, long, end := conversion(text[i:])
		if end == 0 {
			return "", fmt.Sprintf("format string %q ends inside a conversion", text)
		}
		i += end - 1
		c := verb[len(verb)-1]
		width := uint64(4)
		if long || c == 'p' || c == 's' || c == 'f' || c == 'e' || c == 'g' || c == 'E' ||
			c == 'G' || c == 'a' {
			width = 8
		}
		if c == '%' {
			b.WriteByte('%')
			continue
		}
		x, ok := next(width)
		if !ok {
			return "", "an operand of vprintf is out of bounds"
		}
		spell(&b, w, lane, verb, c, width, x)
	}
	return b.String(), ""
}

// conversion splits the first conversion off a format. It returns the verb without its length
// modifier, and whether that modifier means 64 bits.
func conversion(text string) (verb string, long bool, end int) {
	for i := 1; i < len(text); i++ {
		switch c := text[i]; c {
		case 'l', 'j', 'z', 't':
			long = true
		case 'h':
		case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '.', '-', '+', ' ', '#':
			verb += string(c)
		default:
			return "%" + verb + string(c), long, i + 1
		}
	}
	return "", false, 0
}

// spell appends one formatted operand of width bits to b.
func spell(b *bytes.Buffer, w *warp, lane int, verb string, c byte, width, x uint64) {
	flags := verb[:len(verb)-1]
	switch c {
	case 'd', 'i':
		v := int64(x)
		if width == 4 {
			v = int64(int32(x))
		}
		fmt.Fprintf(b, flags+"d", v)
	case 'u':
		fmt.Fprintf(b, flags+"d", x)
	case 'x', 'X', 'o', 'c':
		fmt.Fprintf(b, verb, x)
	case 'p':
		fmt.Fprintf(b, "0x%x", x)
	case 's':
		s, _ := w.text(lane, x)
		fmt.Fprintf(b, verb, s)
	case 'a':
		fmt.Fprintf(b, flags+"x", math.Float64frombits(x))
	case 'f', 'e', 'g', 'E', 'G':
		fmt.Fprintf(b, verb, math.Float64frombits(x))
	}
}

// print writes the output of vprintf to Options.Output.
func (d *Device) print(text string) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	out := d.options.Output
	if out == nil {
		out = os.Stdout
	}
	fmt.Fprint(out, text)
}
