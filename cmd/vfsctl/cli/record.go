package cli

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"vfsdb/vfs"
)

// maxWord bounds each word of a command that the log keeps, in bytes.
const maxWord = 256

// Words returns the command line that the log keeps: without the global flags, and long words are cut.
func Words(cmd *cobra.Command, args []string) []string {
	list := strings.Fields(cmd.CommandPath())

	global := cmd.InheritedFlags()
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if global.Lookup(f.Name) != nil {
			return
		}
		list = append(list, "--"+f.Name)
		if value := f.Value.String(); f.NoOptDefVal == "" {
			list = append(list, value)
		} else if value != f.NoOptDefVal {
			list[len(list)-1] += "=" + value
		}
	})

	list = append(list, args...)
	for i, w := range list {
		if len(w) > maxWord {
			list[i] = w[:maxWord-3] + "..."
		}
	}
	return list
}

// briefly is how long a command may have taken if its end is not worth a commit: the log has the time of its first change.
const briefly = 100 * time.Millisecond

// ended logs how a command that has changed something ended, if it failed or took long. It returns the error of the command.
func ended(ctx context.Context, fsys *vfs.FS, call *vfs.Call, err error) error {
	if call.Exit != nil { // a run has logged itself
		return err
	}
	call.Took = time.Since(call.Began)
	var told Exit
	switch {
	case errors.As(err, &told):
		code := int(told)
		call.Exit = &code
	case err != nil:
		call.Error = err.Error()
	}
	if !call.Recorded() || err == nil && call.Took < briefly {
		return err
	}
	if lost := fsys.LogCalls(context.WithoutCancel(ctx), call); err == nil {
		err = lost
	}
	return err
}
