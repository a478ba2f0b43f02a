// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// A Result has the counts and the largest error of a case.
type Result struct {
	Instructions int64   // number of instructions, counted for each thread
	Elements     int     // number of compared elements
	Error        float64 // error of the element that is closest to its tolerance
	Allowed      float64 // tolerance of that element
}

// Run runs a case in the emulator and compares the results with the expected ones.
func (a *Archive) Run(ctx context.Context, c *Case, o emu.Options) (r Result, err error) {
	o.Target = c.Target
	back, err := emu.New(o)
	if err != nil {
		return r, err
	}
	d := runtime.On(back)
	defer func() { err = errors.Join(err, d.Close()) }()
	m, err := d.Load(runtime.PTX(a.Text(c)), runtime.Name(c.PTX))
	if err != nil {
		return r, err
	}
	k, err := m.Kernel(c.Kernel)
	if err != nil {
		return r, err
	}
	buffers, args, err := a.arguments(d, c)
	if err != nil {
		return r, err
	}
	if err := k.LaunchContext(ctx, c.config(), args...); err != nil {
		return r, err
	}
	if err := d.Sync(); err != nil {
		return r, err
	}
	r.Instructions = back.Stats().Instructions
	for i := range c.Args {
		if arg := &c.Args[i]; arg.Role == "out" {
			got, err := runtime.Download(buffers[i])
			if err != nil {
				return r, err
			}
			if err := a.compare(arg, got, &r); err != nil {
				return r, fmt.Errorf("argument %d: %w", i, err)
			}
		}
	}
	return r, err
}

// config returns the launch configuration.
func (c *Case) config() runtime.Config {
	config := runtime.Grid(c.Grid[0], c.Grid[1:]...).Block(c.Block[0], c.Block[1:]...)
	if len(c.Cluster) > 0 {
		config = config.Cluster(c.Cluster[0], c.Cluster[1:]...)
	}
	if c.Shared > 0 {
		config = config.Shared(c.Shared)
	}
	if c.Cooperative {
		config = config.Cooperative()
	}
	return config
}

// arguments uploads the buffers of a case. It returns the buffers, by index of their argument,
// and the arguments of the launch.
func (a *Archive) arguments(d *runtime.Device, c *Case) ([]*runtime.Buffer[byte], []any, error) {
	buffers := make([]*runtime.Buffer[byte], len(c.Args))
	for i := range c.Args {
		arg := &c.Args[i]
		if arg.Role != "in" && arg.Role != "out" {
			continue
		}
		data, err := a.input(arg)
		if err != nil {
			return nil, nil, fmt.Errorf("argument %d: %w", i, err)
		}
		if buffers[i], err = runtime.Upload(d, data); err != nil {
			return nil, nil, err
		}
	}
	var args []any
	for i := range c.Args {
		arg := &c.Args[i]
		switch {
		case arg.Hidden:
		case arg.Role == "map":
			m, err := runtime.Tiled(buffers[arg.Buffer], arg.Sizes, arg.Box, runtime.As(arg.Type),
				runtime.Swizzle(arg.Swizzle))
			if err != nil {
				return nil, nil, fmt.Errorf("argument %d: %w", i, err)
			}
			args = append(args, m)
		case arg.Role == "num":
			v, err := arg.number()
			if err != nil {
				return nil, nil, fmt.Errorf("argument %d: %w", i, err)
			}
			args = append(args, v)
		default:
			args = append(args, buffers[i])
		}
	}
	return buffers, args, nil
}

// number returns the value of a scalar argument. Integers are returned as unsigned, because
// compilers declare parameters as unsigned.
func (arg *Arg) number() (any, error) {
	if isFloat(arg.Type) {
		v, err := arg.Value.Float64()
		switch arg.Type {
		case "f32":
			return float32(v), err
		case "f64":
			return v, err
		}
		return runtime.F16(encode(arg.Type, v)), err
	}
	v, err := strconv.ParseUint(arg.Value.String(), 10, 64)
	if err != nil {
		var signed int64
		signed, err = strconv.ParseInt(arg.Value.String(), 10, 64)
		v = uint64(signed)
	}
	if arg.Type == "v64" { // a struct of eight bytes
		return binary.LittleEndian.AppendUint64(nil, v), err
	}
	switch width(arg.Type) {
	case 1:
		return uint8(v), err
	case 2:
		return uint16(v), err
	case 4:
		return uint32(v), err
	}
	return v, err
}

// compare compares the contents of a buffer with the expected elements, and updates r.
func (a *Archive) compare(arg *Arg, got []byte, r *Result) error {
	r.Elements += arg.Count
	if arg.SHA256 != "" {
		if sum := sha256.Sum256(got); hex.EncodeToString(sum[:]) != arg.SHA256 {
			return fmt.Errorf("wrong result: %d elements of %s have another hash than expected",
				arg.Count, arg.Type)
		}
		return nil
	}
	data := a.files["data/"+arg.Want]
	exact := arg.Abs == 0 && arg.Rel == 0
	if exact {
		if string(data) != string(got) {
			return fmt.Errorf("wrong result: %x, want %x", got, data)
		}
		return nil
	}
	kept := "f32"
	if arg.Type == "f64" {
		kept = "f64"
	}
	if len(data) != arg.Count*width(kept) {
		return fmt.Errorf("file %s has %d bytes", arg.Want, len(data))
	}
	wrong, worst, size := 0, 0, width(arg.Type)
	share, worstShare := r.share(), -1.0
	for i := range arg.Count {
		g, w := decode(arg.Type, got[i*size:][:size]),
			decode(kept, data[i*width(kept):][:width(kept)])
		distance, allowed := math.Abs(g-w), arg.Abs+arg.Rel*math.Abs(w)
		switch {
		case g == w || math.IsNaN(g) && math.IsNaN(w):
			distance = 0
		case math.IsNaN(distance) || math.IsInf(distance, 0):
			distance = math.Inf(1)
		}
		if distance > allowed {
			wrong++
		}
		s := 0.0
		if distance > 0 {
			s = distance / allowed
		}
		if s > worstShare {
			worst, worstShare = i, s
		}
		if s > share {
			share, r.Error, r.Allowed = s, distance, allowed
		}
	}
	if wrong > 0 {
		return fmt.Errorf(
			"wrong result: %d of %d elements of %s; the worst is [%d]: got %v, want %v",
			wrong, arg.Count, arg.Type, worst, decode(arg.Type, got[worst*size:][:size]),
			decode(kept, data[worst*width(kept):][:width(kept)]))
	}
	return nil
}

// share returns the largest error as a fraction of its tolerance.
func (r *Result) share() float64 {
	if r.Error == 0 {
		return 0
	}
	return r.Error / r.Allowed
}
