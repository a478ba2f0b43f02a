// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gputest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// failureChecks returns checks that make deliberate mistakes. Each mistake must give one clear
// error, after which the program can continue.
func failureChecks() []Check {
	refuse := func(name string, kind error, words string, do func(t *T) error) Check {
		return Check{"failures", name, func(t *T) error {
			err := do(t)
			switch {
			case err == nil:
				return errors.New("no error")
			case kind != nil && !errors.Is(err, kind):
				return fmt.Errorf("an error of another kind than %q: %w", kind, err)
			case !strings.Contains(err.Error(), words):
				return fmt.Errorf("the error does not say %q: %w", words, err)
			}
			t.Note("%s", err)
			// the device must still work
			if t.Device.Lost() == nil {
				return t.checkAlive()
			}
			return nil
		}}
	}
	argument := runtime.ErrArgument
	return []Check{
		refuse("bad PTX", nil, "line", func(t *T) error {
			_, err := t.Device.Load(
				runtime.PTX(
					".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n\t.reg .b32 %r<2>;\n\tadd.u33 %r0, %r1, %r1;\n\tret;\n}\n"), runtime.Name("bad.ptx"))
			return lines(err, "bad.ptx:7")
		}),
		refuse("bad PTX, no cache", nil, "line", func(t *T) error {
			_, err := t.Device.Load(
				runtime.PTX(
					".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n\tadd.u32 %r0, %r1, %r1;\n\tret;\n}\n"), runtime.Name("bad.ptx"), runtime.Cache(""))
			return lines(err, "bad.ptx:6")
		}),
		refuse("bad PTX from Go", nil, "failures.go", func(t *T) error {
			_, err := t.Device.Load(brokenModule{invalidStore(t.Target())})
			return err
		}),
		refuse("another target", argument, "it is built for sm_100a", func(t *T) error {
			_, err := t.Device.Load(kernels("sm_100a"))
			return err
		}),
		refuse("no cubin", nil, "load of junk", func(t *T) error {
			_, err := t.Device.LoadCubin("junk", []byte("this is no cubin"))
			return err
		}),
		refuse("no such kernel", argument, "did you mean add?", func(t *T) error {
			_, err := t.load("ad")
			return err
		}),
		refuse("too few arguments", argument, "takes 4 arguments, but 1 are given",
			func(t *T) error {
				return t.add(func(k *runtime.Kernel, b *runtime.Buffer[float32]) error {
					return k.Launch(runtime.Grid(1), b)
				})
			}),
		refuse("an argument of the wrong size", argument, "uint64, but the parameter is .u32",
			func(t *T) error {
				return t.add(func(k *runtime.Kernel, b *runtime.Buffer[float32]) error {
					return k.Launch(runtime.Grid(1), b, b, b, uint64(1))
				})
			}),
		refuse("an argument of the wrong type", argument,
			"a buffer of int32, but the parameter is a pointer to f32", func(t *T) error {
				return t.add(func(k *runtime.Kernel, b *runtime.Buffer[float32]) error {
					wrong, err := runtime.Alloc[int32](t.Device, 8)
					if err != nil {
						return err
					}
					return k.Launch(runtime.Grid(1), b, wrong, b, 1)
				})
			}),
		refuse("a misaligned buffer", argument, "16", func(t *T) error {
			return t.add(func(_ *runtime.Kernel, b *runtime.Buffer[float32]) error {
				k, e1 := t.load("double")
				odd, e2 := b.Slice(1, 8)
				if err := errors.Join(e1, e2); err != nil {
					return err
				}
				return k.Launch(runtime.Grid(1), odd)
			})
		}),
		refuse("nil", argument, "nil", func(t *T) error {
			return t.add(func(k *runtime.Kernel, b *runtime.Buffer[float32]) error {
				return k.Launch(runtime.Grid(1), b, nil, b, 1)
			})
		}),
		refuse("too much shared memory", argument, "a block on", func(t *T) error {
			return t.add(func(k *runtime.Kernel, b *runtime.Buffer[float32]) error {
				return k.Launch(runtime.Grid(1).Shared(1<<20), b, b, b, 1)
			})
		}),
		refuse("no grid", argument, "the grid has 0 blocks", func(t *T) error {
			return t.add(func(k *runtime.Kernel, b *runtime.Buffer[float32]) error {
				return k.Launch(runtime.Grid(0), b, b, b, 1)
			})
		}),
		refuse("a grid too high", argument, "y must be from 1 to 65535", func(t *T) error {
			return t.add(func(k *runtime.Kernel, b *runtime.Buffer[float32]) error {
				return k.Launch(runtime.Grid(1, 1<<20), b, b, b, 1)
			})
		}),
		refuse("another block than declared", argument, "the kernel declares 256",
			func(t *T) error {
				return t.add(func(k *runtime.Kernel, b *runtime.Buffer[float32]) error {
					return k.Launch(runtime.Grid(1).Block(128), b, b, b, 1)
				})
			}),
		refuse("a cluster too large", argument, "at most 16", func(t *T) error {
			return t.add(func(k *runtime.Kernel, b *runtime.Buffer[float32]) error {
				return k.Launch(runtime.Grid(32).Cluster(32), b, b, b, 1)
			})
		}),
		refuse("a grid of broken clusters", argument, "not a multiple of the cluster size 4",
			func(t *T) error {
				return t.add(func(k *runtime.Kernel, b *runtime.Buffer[float32]) error {
					return k.Launch(runtime.Grid(7).Cluster(4), b, b, b, 1)
				})
			}),
		refuse("a cooperative grid too large", nil, "cooperative", func(t *T) error {
			return t.add(func(k *runtime.Kernel, b *runtime.Buffer[float32]) error {
				return k.Launch(runtime.Grid(1<<20).Cooperative(), b, b, b, 1)
			})
		}),
		refuse("out of memory", runtime.ErrMemory, "out of memory", func(t *T) error {
			_, err := runtime.Alloc[float64](t.Device, 1<<40)
			return err
		}),
		refuse("a closed module", runtime.ErrClosed, "closed", func(t *T) error {
			m, err := t.Device.Load(kernels(t.Target()))
			if err != nil {
				return err
			}
			k, err := m.Kernel("empty")
			if err := errors.Join(err, m.Close()); err != nil {
				return err
			}
			return k.Launch(runtime.Grid(1))
		}),
		refuse("a closed buffer", runtime.ErrClosed, "closed", func(t *T) error {
			return t.add(func(k *runtime.Kernel, b *runtime.Buffer[float32]) error {
				c, err := runtime.Alloc[float32](t.Device, 8)
				if err := errors.Join(err, c.Close()); err != nil {
					return err
				}
				return k.Launch(runtime.Grid(1), b, b, c, 1)
			})
		}),
		refuse("closed twice", runtime.ErrClosed, "closed already", func(t *T) error {
			c, err := runtime.Alloc[float32](t.Device, 8)
			if err := errors.Join(err, c.Close()); err != nil {
				return err
			}
			return c.Close()
		}),
		refuse("no such device", runtime.ErrAbsent, "this machine has", func(t *T) error {
			_, err := runtime.Open("cuda:99")
			return err
		}),
		{"failures", "an illegal address", checkIllegal},
	}
}

// lines returns an error unless the text of err contains a source position.
func lines(err error, place string) error {
	if err != nil && !strings.Contains(err.Error(), place) {
		return fmt.Errorf("%w (which does not name %s)", errors.New(err.Error()), place)
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("line found: %w", err)
}

// A brokenModule returns PTX with an error that its Go source does not contain.
type brokenModule struct{ *dsl.Module }

// Text returns the text with one invalid instruction.
func (s brokenModule) Text() (string, error) {
	text, err := s.Module.Text()
	return strings.Replace(text, "st.global.u32 ", "st.global.v3.u32 ", 1), err
}

// add calls do with the kernel add and a buffer of 256 elements.
func (t *T) add(do func(k *runtime.Kernel, b *runtime.Buffer[float32]) error) error {
	k, e1 := t.load("add")
	b, e2 := runtime.Upload(t.Device, make([]float32, 256))
	if err := errors.Join(e1, e2); err != nil {
		return err
	}
	return errors.Join(do(k, b), b.Close())
}

// checkAlive returns an error unless kernels still run.
func (t *T) checkAlive() error {
	return t.add(func(k *runtime.Kernel, b *runtime.Buffer[float32]) error {
		return errors.Join(k.Launch(runtime.Grid(1), b, b, b, 256), t.Device.Sync())
	})
}

// wildName is the environment variable that makes the program lose its device.
const wildName = "PTXDSL_GPUTEST_WILD"

// checkIllegal starts a child process that loses its device. The loss of a device affects the
// whole process, so this process must not lose its own.
func checkIllegal(t *T) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	child := exec.Command(program)
	child.Env = append(os.Environ(), wildName+"="+t.Device.Info().Place)
	out, err := child.CombinedOutput()
	if err != nil {
		return fmt.Errorf("the process that lost its device did not go on: %w\n%s", err, out)
	}
	t.Note("%s", strings.TrimSpace(string(out)))
	return t.checkAlive()
}

// Wild runs a kernel with an illegal access, if the environment variable is set, and checks the
// errors that follow. It is the body of the child process. asked is false if the variable is not
// set.
func Wild() (asked bool, err error) {
	place := os.Getenv(wildName)
	if place == "" {
		return false, nil
	}
	d, err := runtime.Open(place)
	if err != nil {
		return true, err
	}
	m, err := d.Load(invalidStore(d.Info().Target))
	if err != nil {
		return true, err
	}
	k, e1 := m.Kernel("wild")
	b, e2 := runtime.Alloc[uint32](d, 32)
	if err := errors.Join(e1, e2); err != nil {
		return true, err
	}
	if err := k.Launch(runtime.Grid(1), b, uint64(1)<<40); err != nil {
		return true, err
	}
	lost := d.Sync()
	if !errors.Is(lost, runtime.ErrLost) || !strings.Contains(lost.Error(), "wild") {
		return true,
			fmt.Errorf("the error does not say that the device is lost, and after which kernel: %w",
				lost)
	}
	if again := b.Fill(0); !errors.Is(again, runtime.ErrLost) {
		return true, fmt.Errorf("the lost device goes on: %w", again)
	}
	if err := d.Close(); err != nil {
		return true, fmt.Errorf("closing the lost device: %w", err)
	}
	again, err := runtime.Open(place)
	if err == nil {
		return true,
			errors.Join(
				errors.New("the driver serves the process again, against what the messages say"),
				again.Close())
	}
	if !errors.Is(err, runtime.ErrLost) || !strings.Contains(err.Error(), "restart the process") {
		return true, fmt.Errorf("opening the lost device anew does not say what to do: %w", err)
	}
	fmt.Println(lost)
	return true, nil
}
