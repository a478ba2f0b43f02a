// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"github.com/ptxdsl/ptxdsl/internal/oracle/gpuagree/program"
	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/runtime"
)

func generatePrograms(folder string) error {
	tool, err := ptxas.Find()
	if err != nil {
		return err
	}
	n, err := program.Generate(context.Background(), tool, folder)
	if err != nil {
		return err
	}
	fmt.Printf("%d programs\n", n)
	return nil
}

// hangTimeout is the time after which a program is killed.
const hangTimeout = 20 * time.Second

// runPrograms runs the programs of a directory on a device, in child processes, because a failing
// program makes the device unusable for its process, and a program that does not end must be
// killed.
func runPrograms(folder, device, file string, parallel int) error {
	dev, err := runtime.Open(device)
	if err != nil {
		return err
	}
	record := &program.Record{Device: fmt.Sprintf("%+v", dev.Info())}
	if err := dev.Close(); err != nil {
		return err
	}
	all := program.All()
	record.Results = make([]program.Result, len(all))
	var running sync.WaitGroup
	for i := range parallel {
		running.Go(func() {
			some := record.Results[i*len(all)/parallel : (i+1)*len(all)/parallel]
			runWithRestarts(folder, device, all, i*len(all)/parallel, some)
		})
	}
	running.Wait()
	failed := 0
	for i := range record.Results {
		if e := record.Results[i].Error; e != "" {
			failed++
			fmt.Printf("%s: %s\n", record.Results[i].ID, e)
		}
	}
	fmt.Printf("%d programs, %d failed\n", len(record.Results), failed)
	return record.Write(file)
}

// runWithRestarts runs the programs from index from on and stores their results in to, with as
// many child processes as needed.
func runWithRestarts(folder, device string, all []program.Program, from int, to []program.Result) {
	for done := 0; done < len(to); {
		n, err := runInChild(folder, device, from+done, to[done:])
		done += n
		if done < len(to) && (n == 0 || errors.Is(err, errHang)) {
			to[done] = program.Result{ID: all[from+done].ID, Error: err.Error()}
			done++
		}
	}
}

// errHang is the error of a program that was killed.
var errHang = fmt.Errorf("the program did not end within %v", hangTimeout)

// runInChild runs programs in a child process until one fails, and returns the number of results.
func runInChild(folder, device string, from int, to []program.Result) (n int, err error) {
	cmd := exec.Command(os.Args[0], "programs-child", "-in", folder, "-device", device,
		"-from", strconv.Itoa(from), "-until", strconv.Itoa(from+len(to)))
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	results := make(chan program.Result)
	go func() {
		defer close(results)
		d := json.NewDecoder(bufio.NewReader(pipe))
		for {
			var r program.Result
			if err := d.Decode(&r); err != nil {
				return
			}
			results <- r
		}
	}()
	for {
		select {
		case r, ok := <-results:
			if !ok {
				return n, cmd.Wait()
			}
			to[n] = r
			n++
		case <-time.After(hangTimeout):
			if err := cmd.Process.Kill(); err != nil {
				return n, err
			}
			for range results {
			}
			_ = cmd.Wait() // the process was killed
			return n, errHang
		}
	}
}

// runChild runs programs [from, until) and writes their results as JSON. It is the body of the
// child process.
func runChild(folder, device string, from, until int, to io.Writer) error {
	e := json.NewEncoder(to)
	return program.Run(folder, device, from, until, func(r program.Result) error {
		return e.Encode(r)
	})
}
