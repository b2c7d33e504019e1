package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"vfsdb/vfs"
)

// ImportRepo makes a branch from a commit of a repository of the host, with the program git. The revision rev is what git
// takes for one: a branch, a tag, an id. By default the branch of the store gets the last part of its name; a commit
// without a name makes "git-" and the first digits of its id. With History the commits are the first parents from rev back.
//
// The repository is not trusted: git runs no hook, no program of its configuration, and fetches nothing that is missing. It
// refuses a repository of another user unless the user's own configuration names it in safe.directory.
func ImportRepo(ctx context.Context, fsys *vfs.FS, dir, rev string, o *ImportOptions) (*Report, error) {
	var own ImportOptions
	if o != nil {
		own = *o
	}
	report, err := importRepo(ctx, fsys, dir, rev, &own)
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w", rev, dir, err)
	}
	return report, nil
}

func importRepo(ctx context.Context, fsys *vfs.FS, dir, rev string, o *ImportOptions) (*Report, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, cmp.Or(err, error(syscall.ENOTDIR))
	}
	if strings.HasPrefix(rev, "-") {
		return nil, fmt.Errorf("no commit has such a name: %w", syscall.EINVAL)
	}
	oid, err := output(ctx, dir, "rev-parse", "--verify", "--end-of-options", rev+"^{commit}")
	if err != nil {
		return nil, err
	}
	if oid = strings.TrimSpace(oid); !isOid(oid) {
		return nil, fmt.Errorf("git says %.60q, which is no id: %w", oid, syscall.EPROTO)
	}
	if o.Branch == "" {
		if o.Branch, err = nameOf(ctx, dir, rev, oid); err != nil {
			return nil, err
		}
	}

	args := []string{"fast-export", "--use-done-feature", "--show-original-ids", "--reencode=yes", "--signed-tags=strip", "--first-parent", "--no-data"}
	if !o.History {
		args = append(args, "--max-count=1")
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cmd, errs := command(ctx, dir, append(args, oid)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, startErr(err)
	}

	var report *Report
	contents, err := openObjects(ctx, dir)
	if err == nil {
		report, err = importFrom(ctx, fsys, out, contents, o)
		err = contents.close(err)
	}
	if err != nil {
		stop()
	}
	_, _ = io.Copy(io.Discard, out)
	ended := cmd.Wait()

	// A stream that was cut off is the fault of git, and an error of ours made us stop it.
	if ended != nil && (err == nil || errors.Is(err, errEnded)) {
		err = failed(cmd, ended, errs)
	}
	if err != nil {
		return nil, err
	}
	return report, nil
}

// nameOf returns the name of a branch for a revision.
func nameOf(ctx context.Context, dir, rev, oid string) (string, error) {
	full, err := output(ctx, dir, "rev-parse", "--symbolic-full-name", "--end-of-options", rev)
	if err != nil {
		return "", err
	}
	lines := strings.Fields(strings.TrimPrefix(full, "--end-of-options\n"))
	if len(lines) == 1 {
		for _, kind := range []string{"refs/heads/", "refs/tags/", "refs/remotes/"} {
			if name, is := strings.CutPrefix(lines[0], kind); is {
				name = strings.ReplaceAll(name, "/", "-")
				return strings.ReplaceAll(name, "@", "-"), nil
			}
		}
	}
	return "git-" + oid[:12], nil
}

// redirects are the variables that make git work on another repository, or with another configuration, than that of the
// directory. A hook has some of them.
var redirects = []string{
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CEILING_DIRECTORIES", "GIT_COMMON_DIR", "GIT_CONFIG", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS",
	"GIT_DIR", "GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_NAMESPACE", "GIT_OBJECT_DIRECTORY",
	"GIT_PREFIX", "GIT_QUARANTINE_PATH", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE", "GIT_WORK_TREE",
}

// command makes a call of git that reads a repository, and runs nothing that the repository names.
func command(ctx context.Context, dir string, args ...string) (*exec.Cmd, *tail) {
	safe := []string{
		"--no-pager", "--no-replace-objects",
		"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "protocol.allow=never",
		"-C", dir,
	}
	cmd := exec.CommandContext(ctx, "git", append(safe, args...)...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(redirects, name)
	})

	// A commit or content that a partial clone does not have is missing, and not fetched by whatever the repository says.
	cmd.Env = append(cmd.Env, "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C")
	errs := new(tail)
	cmd.Stderr = errs
	return cmd, errs
}

// output returns what git prints.
func output(ctx context.Context, dir string, args ...string) (string, error) {
	cmd, errs := command(ctx, dir, args...)
	out, err := cmd.Output()
	if err != nil {
		return "", failed(cmd, err, errs)
	}
	return string(out), nil
}

// startErr explains that there is no git.
func startErr(err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("the program git is not there: %w", syscall.ENOENT)
	}
	return err
}

// failed is the error of a call of git that has failed.
func failed(cmd *exec.Cmd, err error, errs *tail) error {
	if text := strings.TrimSpace(errs.String()); text != "" {
		return fmt.Errorf("git %s: %s: %w", verbOf(cmd), text, syscall.EINVAL)
	}
	return startErr(fmt.Errorf("git %s: %w", verbOf(cmd), err))
}

// verbOf returns the command of git that is called.
func verbOf(cmd *exec.Cmd) string {
	return cmd.Args[slices.Index(cmd.Args, "-C")+2]
}

// A tail keeps the last bytes that are written.
type tail struct{ bytes.Buffer }

// maxTail is how many it keeps at least.
const maxTail = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	if t.Len() > maxTail {
		t.Next(t.Len() - maxTail)
	}
	t.Buffer.Write(p[max(0, len(p)-maxTail):])
	return len(p), nil
}
