// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command ptxdsl formats, checks, analyzes and runs PTX. Flags and exit codes are handled here;
// the packages that this command imports do the work.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// Exit codes, the same for every command.
const (
	exitClean    = 0 // no findings
	exitFindings = 1 // errors in the PTX, or differences
	exitTrouble  = 2 // an input could not be read, written or parsed
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// A command is a subcommand of ptxdsl.
type command struct {
	name, args string // such as "fmt" and "[flags] [path ...]"
	short      string // one-line description
	long       string // text that ptxdsl help prints above the flags
	examples   string // text that ptxdsl help prints below the flags
	run        func(*call) int
}

func (cmd *command) synopsis() string { return strings.TrimSpace(cmd.name + " " + cmd.args) }

// commands returns the commands in the order in which the help lists them.
func commands() []*command {
	return []*command{fmtCommand(), verifyCommand(), checkCommand(), optCommand(), runCommand(),
		statsCommand(), explainCommand(), isaCommand(), versionCommand()}
}

// A call is one invocation of a command.
type call struct {
	command        *command
	flags          *flag.FlagSet
	args           []string // arguments after the command's name
	stdin          io.Reader
	stdout, stderr *output
	// open is set by tests; nil means runtime.Open
	open func(device string) (*runtime.Device, error)
}

// run executes the command line args and returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	c := &call{stdin: stdin, stdout: &output{w: stdout}, stderr: &output{w: stderr}}
	code := c.dispatch(args)
	if err := c.stdout.err; err != nil {
		fmt.Fprintf(c.stderr, "ptxdsl: cannot write the output: %v\n", err)
		return exitTrouble
	}
	return code
}

func (c *call) dispatch(args []string) int {
	if len(args) == 0 {
		usage(c.stderr)
		return exitTrouble
	}
	name, rest := args[0], args[1:]
	switch strings.TrimLeft(name, "-") {
	case "help", "h":
		return c.help(rest)
	case "version":
		name = "version"
	}
	for _, cmd := range commands() {
		if cmd.name == name {
			c.command, c.args = cmd, rest
			c.flags = flag.NewFlagSet(name, flag.ContinueOnError)
			c.flags.SetOutput(io.Discard)
			return cmd.run(c)
		}
	}
	what := "command"
	if strings.HasPrefix(name, "-") {
		what = "flag before the command"
	} else if _, err := os.Stat(name); err == nil {
		fmt.Fprintf(c.stderr,
			"ptxdsl: %s is a file, not a command; did you mean ptxdsl verify %s?\n", name, name)
		return exitTrouble
	}
	fmt.Fprintf(c.stderr, "ptxdsl: unknown %s %q%s\nRun 'ptxdsl help' for a list of commands.\n",
		what, name, didYouMean("", diag.Nearest(strings.ToLower(name), names())))
	return exitTrouble
}

func names() []string {
	out := []string{"help"}
	for _, cmd := range commands() {
		out = append(out, cmd.name)
	}
	return out
}

func didYouMean(before, word string) string {
	if word == "" {
		return ""
	}
	return "; did you mean " + before + word + "?"
}

// parse parses the flags of the command. If ok is false, the command must return code.
func (c *call) parse() (code int, ok bool) {
	err := c.flags.Parse(c.args)
	if errors.Is(err, flag.ErrHelp) {
		c.commandHelp(c.stdout, c.command)
		return exitClean, false
	}
	if err == nil {
		return exitClean, true
	}
	message := err.Error()
	if word, found := strings.CutPrefix(message, "flag provided but not defined: -"); found {
		var defined []string
		c.flags.VisitAll(func(f *flag.Flag) { defined = append(defined, f.Name) })
		near := didYouMean("-", diag.Nearest(word, defined))
		if letters := strings.Split(word, ""); !slices.ContainsFunc(letters,
			func(l string) bool { return !slices.Contains(defined, l) }) {
			near = didYouMean("-", strings.Join(letters, " -"))
		}
		message = fmt.Sprintf("unknown flag -%s%s", word, near)
	}
	return c.reportMisuse("%s", message), false
}

// reportMisuse reports an invalid command line and returns the exit code.
func (c *call) reportMisuse(format string, args ...any) int {
	fmt.Fprintf(c.stderr, "ptxdsl %s: %s\nusage: ptxdsl %s\nRun 'ptxdsl help %s' for more.\n",
		c.command.name, fmt.Sprintf(format, args...), c.command.synopsis(), c.command.name)
	return exitTrouble
}

// reportTrouble reports an operation that failed and returns the exit code.
func (c *call) reportTrouble(err error) int {
	fmt.Fprintln(c.stderr, err)
	return exitTrouble
}

// reportUnread reports a file that could not be read, for commands that rewrite files, and
// returns the exit code. An empty directory does not change the exit code, as in gofmt, but it is
// reported, because its name may be mistyped.
func (c *call) reportUnread(err error) int {
	if errors.As(err, &emptyFolder{}) || isHarmless(err) {
		fmt.Fprintln(c.stderr, err)
		return exitClean
	}
	return c.reportTrouble(err)
}

// An output records the error of a failed write, so that a full disk is not mistaken for success.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.w.Write(p)
	o.err = cmp.Or(o.err, err)
	return n, err
}

// terminal reports whether o is a terminal.
func (o *output) terminal() bool {
	f, ok := o.w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

// color reports whether o supports colors and the user has not disabled them (no-color.org).
func (o *output) color() bool { return os.Getenv("NO_COLOR") == "" && o.terminal() }
