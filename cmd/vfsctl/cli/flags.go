package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Group makes a command that does nothing itself and has others below it.
func Group(cmd *cobra.Command, below ...*cobra.Command) *cobra.Command {
	names := make([]string, len(below))
	for i, c := range below {
		names[i] = c.Name()
	}
	cmd.AddCommand(below...)
	which := "one of: " + strings.Join(names, " ")
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return UnknownCommand(cmd, args[0], fmt.Sprintf(" of %s, which has %s", cmd.Name(), which))
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return Usage(cmd, "%s needs %s", cmd.Name(), which)
	}
	return cmd
}

// Args checks the number of arguments. Its error names the missing ones in the words of the usage line. If most is
// negative, there is no upper bound.
func Args(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		_, want, _ := strings.Cut(cmd.Use, " ")
		switch {
		case len(args) < least:
			return Usage(cmd, "%s needs %s", cmd.Name(), want)
		case most == 0 && len(args) > 0:
			return &UsageError{
				Err:  fmt.Errorf("%s takes no arguments, and got %q", cmd.Name(), args[0]),
				Try:  cmd.CommandPath() + " --help",
				Hint: habit(cmd, "*"),
			}
		case most >= 0 && len(args) > most:
			return Usage(cmd, "%s takes %s, and got %q too", cmd.Name(), want, args[most])
		}
		for _, arg := range args {
			if arg == "" {
				return Usage(cmd, "%s: an argument is empty", cmd.Name())
			}
		}
		return nil
	}
}

// Exclusive refuses flags that contradict each other.
func Exclusive(cmd *cobra.Command, names ...string) error {
	var set []string
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			set = append(set, "--"+name)
		}
	}
	if len(set) > 1 {
		return Usage(cmd, "%s exclude each other", strings.Join(set, " and "))
	}
	return nil
}

// completeFlags makes the flags of a command, and of those below it, suggest files of the host only if their value is one.
func completeFlags(cmd *cobra.Command) {
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		_, known := cmd.GetFlagCompletionFunc(f.Name)
		switch value, _ := pflag.UnquoteUsage(f); value {
		case "", "FILE", "DIR":
		default:
			if !known {
				_ = cmd.RegisterFlagCompletionFunc(f.Name, CompleteNothing)
			}
		}
	})
	for _, below := range cmd.Commands() {
		completeFlags(below)
	}
}

// badFlags is the error of flags that cmd cannot read. A word before them that is no command comes first: checkout -b
// is about checkout.
func badFlags(cmd *cobra.Command, err error) error {
	if words := cmd.Flags().Args(); cmd.HasSubCommands() && len(words) > 0 {
		if unknown := cmd.ValidateArgs(words); unknown != nil {
			return unknown
		}
	}
	return &UsageError{Err: flagErr(err), Try: cmd.CommandPath() + " --help", Hint: flagHabit(cmd, err)}
}

// flagErr words the error of a flag that is no number without the names of Go's functions.
func flagErr(err error) error {
	var bad *pflag.InvalidValueError
	var number *strconv.NumError
	if !errors.As(err, &bad) || !errors.As(err, &number) {
		return err
	}
	return fmt.Errorf("--%s: %q is no whole number: %w", bad.GetFlag().Name, bad.GetValue(), number.Err)
}

// BadFlag is the error of a flag whose value the command refuses.
func BadFlag(cmd *cobra.Command, name string, err error) error {
	var u *UsageError
	if errors.As(err, &u) {
		return err
	}
	return Usage(cmd, "--%s: %w", name, err)
}
