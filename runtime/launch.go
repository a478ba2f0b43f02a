// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"context"
	"fmt"
	"strings"

	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// A Config is a launch configuration. Grid or Threads creates one; its methods add options.
type Config struct {
	grid, block, cluster      [3]int
	threads                   int
	shared                    int
	sized                     bool // Shared was called
	stream                    *Stream
	cooperative, programmatic bool
	bad                       string
}

// three returns a size of three dimensions. what describes the size, for the error if there are
// more dimensions.
func (c *Config) three(what string, x int, yz []int) [3]int {
	s := [3]int{x, 1, 1}
	copy(s[1:], yz)
	if len(yz) > 2 {
		c.bad = what
	}
	return s
}

// Grid returns a launch configuration with the given number of blocks per dimension.
func Grid(x int, yz ...int) Config {
	var c Config
	c.grid = c.three("the grid", x, yz)
	return c
}

// Threads returns a launch configuration with enough blocks for at least n threads along x.
func Threads(n int) Config { return Config{threads: n, grid: [3]int{0, 1, 1}} }

// Block sets the block size. It is not needed for kernels that declare their block size.
func (c Config) Block(x int, yz ...int) Config {
	c.block = c.three("the block", x, yz)
	return c
}

// Cluster sets the cluster size. It is not needed for kernels that declare their cluster size.
func (c Config) Cluster(x int, yz ...int) Config {
	c.cluster = c.three("the cluster", x, yz)
	return c
}

// Shared sets the size of dynamic shared memory in bytes. It is not needed for kernels of package
// dsl.
func (c Config) Shared(bytes int) Config {
	c.shared, c.sized = bytes, true
	return c
}

// On sets the stream of the launch.
func (c Config) On(s *Stream) Config {
	c.stream = s
	return c
}

// Cooperative requires that all blocks run at the same time, so that they can wait for each
// other. The launch fails if the device cannot hold all blocks.
func (c Config) Cooperative() Config {
	c.cooperative = true
	return c
}

// Programmatic lets the launch start while the preceding kernel of the stream still runs. The
// kernel must execute griddepcontrol.wait before it uses results of that kernel.
func (c Config) Programmatic() Config {
	c.programmatic = true
	return c
}

// A packet is the memory that a launch needs. It is reused so that launches do not allocate.
type packet struct {
	launch device.Launch
	values []byte
}

// Launch launches the kernel with arguments in the order of its parameters: *Buffer for pointers,
// *TensorMap for tensor maps, Go numbers for scalars, and []byte for arrays of bytes. It returns
// before the kernel has run. Errors of the kernel are returned by a later call, at the latest by
// Sync. On an emulated device, Launch returns when the kernel has ended, with its errors. A
// kernel that executes griddepcontrol.launch_dependents may continue when the device is used
// next.
func (k *Kernel) Launch(c Config, args ...any) error {
	return k.LaunchContext(context.Background(), c, args...)
}

// LaunchContext launches the kernel as Launch does, with a context. On an emulated device the
// kernel is aborted when the context ends, and the error wraps the context's error. A GPU cannot
// abort a kernel: the context is only checked before the launch. Use [Device.SyncContext] to
// limit the wait.
func (k *Kernel) LaunchContext(ctx context.Context, c Config, args ...any) error {
	if k == nil {
		return argument("cannot launch a nil kernel")
	}
	if ctx.Err() != nil {
		return fmt.Errorf("launch of %s: %w", k.name, context.Cause(ctx))
	}
	m := k.module
	if err := m.checkOpen(nil); err != nil {
		return fmt.Errorf("launch of %s: %w", k.name, err)
	}
	if err := c.stream.checkUsable(m.dev); err != nil {
		return fmt.Errorf("launch of %s: %w", k.name, err)
	}
	l, err := k.shape(c)
	if err != nil {
		return err
	}
	if len(args) != len(k.sig.params) {
		return k.argumentCountError(len(args))
	}
	p := k.packets.Get().(*packet)
	for i := range args {
		if err := storeArgument(&k.sig.params[i], p.values, m.dev, &args[i]); err != nil {
			k.packets.Put(p)
			return fmt.Errorf("launch of %s: argument %d%s: %w", k.name, i+1,
				comma(k.sig.params[i].Name),
				err)
		}
	}
	p.launch = l
	p.launch.Context = ctx
	p.launch.Values, p.launch.Places = p.values, k.places
	err = k.back.Launch(&p.launch)
	p.launch.Context = nil
	k.packets.Put(p)
	if err != nil {
		return fmt.Errorf("launch of %s: %w", k.name, err)
	}
	return nil
}

// comma returns ", name", or "" if the parameter has no name.
func comma(name string) string {
	if name == "" {
		return ""
	}
	return ", " + name
}

// argumentCountError returns the error for a launch with too few or too many arguments.
func (k *Kernel) argumentCountError(n int) error {
	list := ""
	for i := range k.sig.params {
		if i > 0 {
			list += ", "
		}
		list += strings.TrimPrefix(k.sig.params[i].Name+": "+k.sig.params[i].String(), ": ")
	}
	return argument("launch of %s: it takes %d arguments, but %d are given; its parameters are "+
		"(%s)", k.name, len(k.sig.params), n, list)
}

// shape returns the launch for a Config, without arguments, after checking it.
func (k *Kernel) shape(c Config) (device.Launch, error) {
	var l device.Launch
	if c.bad != "" {
		return l, argument("launch of %s: %s has more than three dimensions", k.name, c.bad)
	}
	if err := k.blocks(&c); err != nil {
		return l, err
	}
	info := &k.module.dev.info
	switch {
	case !c.sized:
		c.shared = k.dynamic
	case c.shared < 0:
		return l, argument(
			"launch of %s: the size of dynamic shared memory is %d bytes, expected 0 or more",
			k.name, c.shared)
	case c.shared < k.dynamic:
		return l, argument(
			"launch of %s: the launch has %d bytes of dynamic shared memory, but the kernel uses %d",
			k.name, c.shared, k.dynamic)
	}
	if c.shared+k.info.Shared > info.SharedOptIn {
		return l, argument(
			"launch of %s: the launch has %d bytes of dynamic shared memory and the kernel declares %d, but a block on %s has at most %d",
			k.name, c.shared, k.info.Shared, info.Place, info.SharedOptIn)
	}
	if c.cooperative && !info.Cooperative {
		return l, argument("launch of %s: %s does not support cooperative launches", k.name,
			info.Place)
	}
	if c.programmatic && info.Capability < 90 {
		return l, argument("launch of %s: %s does not support programmatic launches, which "+
			"require sm_90", k.name, info.Place)
	}
	l.Stream, l.Shared, l.Cooperative, l.Programmatic = c.stream.handle(), uint32(c.shared),
		c.cooperative, c.programmatic
	for i := range 3 {
		l.Grid[i], l.Block[i], l.Cluster[i] = uint32(c.grid[i]), uint32(c.block[i]),
			uint32(c.cluster[i])
	}
	return l, nil
}

// blocks completes and checks the sizes of the grid, the block and the cluster.
func (k *Kernel) blocks(c *Config) error {
	info, declared := &k.module.dev.info, k.sig.block
	switch {
	case c.block == [3]int{}:
		c.block = declared
		if declared[0] == 0 {
			return argument("launch of %s: the block size is unknown; "+
				"set it with Config.Block (-block of ptxdsl run)", k.name)
		}
	case declared[0] != 0 && declared != c.block:
		return argument(
			"launch of %s: the launch has blocks of %s threads, but the kernel declares %s", k.name,
			shape(c.block), shape(declared))
	}
	if c.threads != 0 && c.block[0] > 0 {
		c.grid[0] = (c.threads + c.block[0] - 1) / c.block[0]
	}
	if c.cluster == [3]int{} && (k.sig.mustCluster || k.sig.cluster[0] != 0) {
		c.cluster = k.sig.cluster
	}
	if k.sig.cluster[0] != 0 && c.cluster != k.sig.cluster {
		return argument(
			"launch of %s: the launch has clusters of %s blocks, but the kernel declares %s",
			k.name,
			shape(c.cluster), shape(k.sig.cluster))
	}
	if k.sig.mustCluster && c.cluster[0] == 0 {
		return argument("launch of %s: the kernel requires clusters; set their size with Cluster",
			k.name)
	}
	for i, axis := range [3]string{"x", "y", "z"} {
		switch {
		case c.grid[i] < 1 || c.grid[i] > info.MaxGrid[i]:
			return argument("launch of %s: the grid has %s blocks, but %s must be from 1 to %d",
				k.name, shape(c.grid), axis, info.MaxGrid[i])
		case c.block[i] < 1 || c.block[i] > info.MaxBlock[i]:
			return argument("launch of %s: a block has %s threads, but %s must be from 1 to %d",
				k.name, shape(c.block), axis, info.MaxBlock[i])
		case c.cluster[0] != 0 && (c.cluster[i] < 1 || c.grid[i]%c.cluster[i] != 0):
			return argument(
				"launch of %s: the grid of %s blocks is not a multiple of the cluster size %s",
				k.name, shape(c.grid), shape(c.cluster))
		}
	}
	if n := c.block[0] * c.block[1] * c.block[2]; n > k.maxThreads() {
		return argument("launch of %s: a block of %s has %d threads, expected at most %d%s", k.name,
			shape(c.block), n, k.maxThreads(), k.maxThreadsReason())
	}
	if c.cluster[0] != 0 {
		n := c.cluster[0] * c.cluster[1] * c.cluster[2]
		if !info.Clusters {
			return argument("launch of %s: %s does not support clusters, which require sm_90",
				k.name, info.Place)
		}
		if n > 16 {
			return argument("launch of %s: a cluster of %s has %d blocks, expected at most 16",
				k.name, shape(c.cluster), n)
		}
	}
	return nil
}

// maxThreads returns the largest block size with which the kernel can be launched.
func (k *Kernel) maxThreads() int {
	n := k.module.dev.info.MaxThreads
	if k.sig.maxThreads > 0 {
		n = min(n, k.sig.maxThreads)
	}
	if k.info.MaxThreads > 0 {
		n = min(n, k.info.MaxThreads)
	}
	return n
}

// maxThreadsReason returns what limits the block size, for messages.
func (k *Kernel) maxThreadsReason() string {
	switch k.maxThreads() {
	case k.module.dev.info.MaxThreads:
		return " on " + k.module.dev.info.Place
	case k.sig.maxThreads:
		return ", as the kernel declares"
	}
	return fmt.Sprintf(" with the %d registers per thread that the kernel uses", k.info.Registers)
}

// shape formats a size, such as 16x16.
func shape(s [3]int) string {
	switch {
	case s[2] != 1:
		return fmt.Sprintf("%dx%dx%d", s[0], s[1], s[2])
	case s[1] != 1:
		return fmt.Sprintf("%dx%d", s[0], s[1])
	}
	return fmt.Sprint(s[0])
}
