// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/internal/npy"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// An array holds numbers of one type, for an argument or a result.
type array struct {
	typ   string // type name such as f32, bf16 or u8
	shape []int
	bytes []byte
}

// maxArrayBytes is the maximum size of an array that an argument may request.
const maxArrayBytes = 1 << 36

// arrayTypes returns the element types that an array may have.
func arrayTypes() []string {
	return []string{"u8", "s8", "b8", "u16", "s16", "b16", "f16", "bf16", "u32", "s32", "b32",
		"f32", "u64", "s64", "b64", "f64"}
}

// width returns the number of bytes of an element.
func width(typ string) int { return npy.Size(typ) }

// argumentFor parses the argument for a parameter. It returns a scalar value, or an array that is
// copied to a buffer.
func argumentFor(p runtime.Param, text string) (value any, a *array, err error) {
	pointer := p.Size == 8 && p.Count == 0 &&
		(p.Type == "u64" || p.Type == "b64" || p.Type == "s64")
	if p.Count == 0 &&
		!(pointer && strings.ContainsAny(text, "[=@") || strings.HasSuffix(text, ".npy")) {
		if pointer && p.Points {
			return nil, nil,
				fmt.Errorf("a pointer parameter takes an array, such as f32[1000]=random")
		}
		value, err := scalar(p.Type, strings.TrimPrefix(text, p.Type+"="))
		return value, nil, err
	}
	a, err = parseArray(text)
	switch {
	case p.Box != nil || err != nil && p.Size == 128 && p.Type == "b8":
		return nil, nil, errors.New("run cannot pass tensor maps; launch the kernel from Go, with " +
			"Kernel.Tensor of package runtime")
	case err != nil:
		return nil, nil, err
	}
	if p.Count > 0 { // an array that is passed by value
		if len(a.bytes) != p.Size {
			return nil, nil, fmt.Errorf("the argument has %d bytes, but the parameter has %d",
				len(a.bytes), p.Size)
		}
		return a.bytes, nil, nil
	}
	return nil, a, nil
}

// scalar parses a number of the given type.
func scalar(typ, text string) (any, error) {
	one := &array{typ: typ, bytes: make([]byte, width(typ))}
	if width(typ) == 0 {
		return nil, fmt.Errorf("a parameter of type .%s is not supported here", typ)
	}
	if err := one.put(0, text); err != nil {
		return nil, err
	}
	b := one.bytes
	switch typ {
	case "f16":
		return runtime.F16(binary.LittleEndian.Uint16(b)), nil
	case "bf16":
		return runtime.BF16(binary.LittleEndian.Uint16(b)), nil
	case "f32":
		return math.Float32frombits(binary.LittleEndian.Uint32(b)), nil
	case "f64":
		return math.Float64frombits(binary.LittleEndian.Uint64(b)), nil
	case "s8":
		return int8(b[0]), nil
	case "s16":
		return int16(binary.LittleEndian.Uint16(b)), nil
	case "s32":
		return int32(binary.LittleEndian.Uint32(b)), nil
	case "s64":
		return int64(binary.LittleEndian.Uint64(b)), nil
	}
	switch len(b) {
	case 1:
		return b[0], nil
	case 2:
		return binary.LittleEndian.Uint16(b), nil
	case 4:
		return binary.LittleEndian.Uint32(b), nil
	}
	return binary.LittleEndian.Uint64(b), nil
}

// parseArray returns the array that an argument describes.
func parseArray(text string) (*array, error) {
	if typ, path, ok := strings.Cut(text, "@"); ok && slices.Contains(arrayTypes(), typ) {
		a, err := readArray(path)
		if err != nil {
			return nil, err
		}
		return a.convert(typ)
	}
	if strings.HasSuffix(text, ".npy") {
		return readArray(text)
	}
	m := regexp.MustCompile(`^(\w+)(?:\[(\d+)\])?(?:=(.*))?$`).FindStringSubmatch(text)
	if m == nil {
		return nil, fmt.Errorf("%q is not an array, expected TYPE[N], TYPE[N]=zeros, =iota, "+
			"=random or =NUMBER, TYPE=NUMBER,NUMBER or a file x.npy", text)
	}
	typ, count, what := m[1], m[2], m[3]
	if !slices.Contains(arrayTypes(), typ) {
		return nil, fmt.Errorf("%q is not a type, expected one of %s", typ,
			strings.Join(arrayTypes(), ", "))
	}
	if count == "" {
		if what == "" {
			return nil, fmt.Errorf("%q is not an array, expected %s[N] or %s=NUMBER,NUMBER", text,
				typ, typ)
		}
		words := strings.Split(what, ",")
		a := &array{typ, []int{len(words)}, make([]byte, len(words)*width(typ))}
		for i, word := range words {
			if err := a.put(i, strings.TrimSpace(word)); err != nil {
				return nil, err
			}
		}
		return a, nil
	}
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 || n > maxArrayBytes/width(typ) {
		return nil, fmt.Errorf("array length %s is out of range", count)
	}
	a := &array{typ, []int{n}, make([]byte, n*width(typ))}
	return a, a.generate(what)
}

// generate fills the array with values: zeros, iota, random and so on.
func (a *array) generate(what string) error {
	kind, seed, seeded := strings.Cut(what, ":")
	switch kind {
	case "", "zeros":
		return nil
	case "iota":
		for i := range a.length() {
			a.set(i, float64(i), int64(i))
		}
		return nil
	case "random":
		n := uint64(1)
		if seeded {
			var err error
			if n, err = strconv.ParseUint(seed, 10, 64); err != nil {
				return fmt.Errorf("random:%s: expected a number as the seed", seed)
			}
		}
		r := rand.New(rand.NewPCG(n, 0))
		for i := range a.length() {
			a.set(i, 2*r.Float64()-1, int64(r.Uint64()))
		}
		return nil
	}
	if err := a.put(0, what); err != nil {
		return fmt.Errorf("cannot fill an array with %q, expected zeros, iota, random, "+
			"random:SEED or a number", what)
	}
	for at := width(a.typ); at < len(a.bytes); at *= 2 {
		copy(a.bytes[at:], a.bytes[:at])
	}
	return nil
}

func (a *array) length() int { return len(a.bytes) / width(a.typ) }

func (a *array) float() bool { return strings.Contains(a.typ, "f") }

// put parses a number and stores it as element i.
func (a *array) put(i int, text string) error {
	if a.float() {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("%q is not a value of type %s", text, a.typ)
		}
		a.set(i, v, 0)
		return nil
	}
	bits := 8 * width(a.typ)
	v, err := strconv.ParseInt(text, 0, bits)
	if err != nil || a.typ[0] == 'u' && v < 0 {
		u, e := strconv.ParseUint(text, 0, bits)
		if e != nil || a.typ[0] == 's' {
			return fmt.Errorf("%q is not a value of type %s", text, a.typ)
		}
		v = int64(u)
	}
	a.set(i, 0, v)
	return nil
}

// set stores f in a floating-point array, or n in an integer array, as element i.
func (a *array) set(i int, f float64, n int64) {
	at := a.bytes[i*width(a.typ):]
	switch a.typ {
	case "f16":
		n = int64(runtime.ToF16(float32(f)))
	case "bf16":
		n = int64(runtime.ToBF16(float32(f)))
	case "f32":
		n = int64(math.Float32bits(float32(f)))
	case "f64":
		n = int64(math.Float64bits(f))
	}
	switch width(a.typ) {
	case 1:
		at[0] = byte(n)
	case 2:
		binary.LittleEndian.PutUint16(at, uint16(n))
	case 4:
		binary.LittleEndian.PutUint32(at, uint32(n))
	case 8:
		binary.LittleEndian.PutUint64(at, uint64(n))
	}
}

// integer returns element i as an integer, sign-extended for signed types.
func (a *array) integer(i int) int64 {
	at := a.bytes[i*width(a.typ):]
	signed := a.typ[0] == 's'
	switch width(a.typ) {
	case 1:
		if signed {
			return int64(int8(at[0]))
		}
		return int64(at[0])
	case 2:
		if signed {
			return int64(int16(binary.LittleEndian.Uint16(at)))
		}
		return int64(binary.LittleEndian.Uint16(at))
	case 4:
		if signed {
			return int64(int32(binary.LittleEndian.Uint32(at)))
		}
		return int64(binary.LittleEndian.Uint32(at))
	}
	return int64(binary.LittleEndian.Uint64(at))
}

// number returns element i as a float64, rounded if necessary.
func (a *array) number(i int) float64 {
	n := a.integer(i)
	switch a.typ {
	case "f16":
		return float64(runtime.F16(n).Float32())
	case "bf16":
		return float64(runtime.BF16(n).Float32())
	case "f32":
		return float64(math.Float32frombits(uint32(n)))
	case "f64":
		return math.Float64frombits(uint64(n))
	case "u64", "b64":
		return float64(uint64(n))
	}
	return float64(n)
}

// text formats element i. Untyped elements are formatted as hexadecimal numbers.
func (a *array) text(i int) string {
	switch {
	case a.typ == "f64":
		return strconv.FormatFloat(a.number(i), 'g', -1, 64)
	case a.float():
		return strconv.FormatFloat(a.number(i), 'g', -1, 32)
	case a.typ[0] == 'b':
		return fmt.Sprintf("0x%0*x", 2*width(a.typ), uint64(a.integer(i)))
	case a.typ == "u64":
		return strconv.FormatUint(uint64(a.integer(i)), 10)
	}
	return strconv.FormatInt(a.integer(i), 10)
}

// convert returns the array with its numbers converted to another type. Floating-point numbers
// are rounded to nearest, or towards zero if the type is an integer type. An integer out of range
// is an error.
func (a *array) convert(typ string) (*array, error) {
	if typ == a.typ || typ[0] == 'b' && typ != "bf16" && width(typ) == width(a.typ) ||
		a.typ == "b16" && width(typ) == 2 {
		return &array{typ, a.shape, a.bytes}, nil
	}
	out := &array{typ, a.shape, make([]byte, a.length()*width(typ))}
	for i := range a.length() {
		if out.float() {
			out.set(i, a.number(i), 0)
			continue
		}
		word := a.text(i)
		if a.float() {
			word = strconv.FormatFloat(math.Trunc(a.number(i)), 'f', 0, 64)
		}
		if err := out.put(i, word); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// describeDifference returns a description of the elements that differ by more than a tolerance,
// or "".
func (a *array) describeDifference(want *array, tolerance float64) string {
	if a.length() != want.length() {
		return fmt.Sprintf("%d elements, expected %d", a.length(), want.length())
	}
	same := func(i int) bool {
		x, y := a.number(i), want.number(i)
		return x == y && (a.float() || want.float() || a.text(i) == want.text(i)) ||
			math.IsNaN(x) && math.IsNaN(y)
	}
	wrong, worst, largest := 0, 0, -1.0
	for i := range a.length() {
		if same(i) {
			continue
		}
		// the difference is relative for expected values above one
		d := math.Abs(a.number(i)-want.number(i)) / math.Max(1, math.Abs(want.number(i)))
		if d > 0 && d <= tolerance {
			continue
		}
		wrong++
		if math.IsNaN(d) {
			d = math.Inf(1)
		}
		if d > largest {
			worst, largest = i, d
		}
	}
	if wrong == 0 {
		return ""
	}
	return fmt.Sprintf(
		"%d of %d elements differ; the largest difference is at element %d, which is %s, expected %s",
		wrong, a.length(), worst, a.text(worst), want.text(worst))
}

// readArray reads a NumPy file.
func readArray(path string) (*array, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	a, err := npy.Read(f)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if a.Len() == 0 {
		return nil, fmt.Errorf("%s: the array is empty", path)
	}
	return &array{a.Type, a.Shape, a.Bytes}, nil
}

// write writes the array as a NumPy file. NumPy has no bfloat16, so bf16 elements are converted
// to F32.
func (a *array) write(w io.Writer) error {
	out := a
	switch {
	case a.typ == "bf16":
		wide, err := a.convert("f32")
		if err != nil {
			return err
		}
		out = wide
	case a.typ[0] == 'b':
		out = &array{"u" + a.typ[1:], a.shape, a.bytes}
	}
	return (&npy.Array{Type: out.typ, Shape: out.shape, Bytes: out.bytes}).Write(w)
}
