// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command gpuagree compares the emulator's arithmetic with a GPU. The subcommand generate
// assembles the kernels, run records the results of a GPU, compare compares a record with the
// emulator, and trim reduces a record to the size that the repository contains.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sort"

	"github.com/ptxdsl/ptxdsl/internal/oracle/gpuagree"
	"github.com/ptxdsl/ptxdsl/internal/ptxas"
)

func main() {
	if err := work(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gpuagree:", err)
		os.Exit(1)
	}
}

func work(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("want generate, run, compare or trim")
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	folder := flags.String("in", "build/gpuagree", "folder of the kernels")
	file := flags.String("out", "gpuagree.rec", "file of the results")
	device := flags.String("device", "cuda:0", "device, as runtime.Open takes it")
	target := flags.String("target", "sm_90a", "target of the kernels")
	version := flags.String("version", "8.8", "PTX version of the kernels")
	to := flags.String("to", "trimmed.rec", "file of the trimmed record")
	from := flags.Int("from", 0, "index of the first program")
	until := flags.Int("until", 0, "index after the last program")
	parallel := flags.Int("parallel", 1, "programs that run at once")
	note := flags.String("note", "", "driver, tools and date of the trimmed record")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	log := func(line string) { fmt.Println(line) }
	switch args[0] {
	case "generate":
		return generate(*folder, *version, *target, log)
	case "programs-generate":
		return generatePrograms(*folder)
	case "programs":
		return runPrograms(*folder, *device, *file, *parallel)
	case "programs-child":
		return runChild(*folder, *device, *from, *until, os.Stdout)
	case "run":
		r, err := gpuagree.Run(*folder, *device, log)
		if err != nil {
			return err
		}
		if err := r.Write(*file); err != nil {
			return err
		}
		return compare(r)
	case "compare":
		r, err := gpuagree.Read(*file)
		if err != nil {
			return err
		}
		return compare(r)
	case "trim":
		r, err := gpuagree.Read(*file)
		if err != nil {
			return err
		}
		r.Note = *note
		if err := r.Trim(); err != nil {
			return err
		}
		return r.Write(*to)
	}
	return fmt.Errorf("unknown command %s, expected generate, run, compare or trim", args[0])
}

func generate(folder, version, target string, log func(string)) error {
	tool, err := ptxas.Find()
	if err != nil {
		return err
	}
	plan, refused, err := gpuagree.Generate(context.Background(), tool, folder, version, target,
		log)
	if err != nil {
		return err
	}
	n := 0
	for _, m := range plan.Modules {
		n += len(m.Cases)
	}
	fmt.Printf("%d cases, %d refused by ptxas\n", n, len(refused))
	ids := make([]string, 0, len(refused))
	for id := range refused {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	for _, id := range ids {
		fmt.Printf("refused: %s: %s\n", id, refused[id])
	}
	return nil
}

func compare(r *gpuagree.Record) error {
	tallies, differences, err := gpuagree.Compare(r)
	if err != nil {
		return err
	}
	return gpuagree.Print(os.Stdout, r, tallies, differences)
}
