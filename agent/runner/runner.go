package runner

import (
	"context"
	"errors"
	"os"

	"vfsdb/agent/tool/program"
	"vfsdb/run"
	"vfsdb/vfs"
)

// Run runs a command of the shell sh, by the best engine that the host allows, with a clean environment and no input. It
// is a [program.Runner]. A host without sh, or one that cannot do what the request asks for, is an error.
func Run(ctx context.Context, fsys *vfs.FS, r program.Request) (*program.Result, error) {
	env := []string{"VFS_DB=", "VFS_BRANCH="} // a policy may keep the program from the other branches of the store
	for _, name := range r.Env {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	cmd := run.Command(ctx, fsys, run.Options{
		Dir: r.Dir, CleanEnv: true, Env: env, Timeout: r.Timeout, NetworkNone: r.NoNetwork, Confine: r.Confine,
	}, "sh", "-c", r.Command)
	out := &ends{most: r.Output}
	cmd.Stdout, cmd.Stderr = out, out

	err := cmd.Run()
	var exit *run.ExitError
	var moved *run.MovedError
	var conflict *run.ConflictError
	if err != nil && !errors.As(err, &exit) && !errors.As(err, &moved) && !errors.As(err, &conflict) {
		return nil, err
	}
	text, whole := out.text()
	return &program.Result{
		Output: text, Truncated: !whole, ExitCode: cmd.Result.ExitCode, TimedOut: cmd.Result.TimedOut,
		Branch: cmd.Result.Branch, Moved: cmd.Result.Moved, Conflicts: cmd.Result.Conflicts,
	}, nil
}
