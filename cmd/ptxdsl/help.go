// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
)

// usage lists the commands.
func usage(w io.Writer) {
	fmt.Fprint(w, `ptxdsl formats and checks PTX, the assembly language of NVIDIA GPUs.

usage: ptxdsl command [flags] [arguments]

`)
	for _, cmd := range commands() {
		fmt.Fprintf(w, "    %-10s %s\n", cmd.name, cmd.short)
	}
	fmt.Fprint(w, `    help       describe a command: ptxdsl help fmt

Examples:
    ptxdsl fmt -w kernel.ptx     format a file in place
    ptxdsl verify kernel.ptx     find the errors in a file
    ptxdsl isa cvt               show the forms of an instruction

Exit codes: 0 clean, 1 errors or differences found, 2 something could not be read or parsed.
`)
}

// help prints the help of the command in args, or the list of commands, and returns the exit
// code.
func (c *call) help(args []string) int {
	if len(args) == 0 {
		usage(c.stdout)
		return exitClean
	}
	for _, cmd := range commands() {
		if cmd.name == args[0] {
			c.command = cmd
			c.args = []string{"-h"}
			c.flags = flag.NewFlagSet(cmd.name, flag.ContinueOnError)
			c.flags.SetOutput(io.Discard)
			return cmd.run(c)
		}
	}
	if args[0] == "help" {
		usage(c.stdout)
		return exitClean
	}
	fmt.Fprintf(c.stderr, "ptxdsl help: unknown command %q%s\n", args[0],
		didYouMean("", diag.Nearest(args[0], names())))
	return exitTrouble
}

// commandHelp writes the help page of a command, which consists of its texts and its flags.
func (c *call) commandHelp(w io.Writer, cmd *command) {
	fmt.Fprintf(w, "usage: ptxdsl %s\n\n%s\n", cmd.synopsis(), strings.Trim(cmd.long, "\n"))
	head := "\nFlags:\n"
	c.flags.VisitAll(func(f *flag.Flag) {
		value, what := flag.UnquoteUsage(f)
		name := "-" + f.Name
		if value != "" {
			name += " " + value
		}
		if f.DefValue != "" && f.DefValue != "false" {
			what += " (default " + f.DefValue + ")"
		}
		fmt.Fprintf(w, "%s    %-18s %s\n", head, name,
			strings.ReplaceAll(what, "\n", "\n                       "))
		head = ""
	})
	if cmd.examples != "" {
		fmt.Fprintf(w, "\nExamples:\n%s\n", strings.Trim(cmd.examples, "\n"))
	}
}
