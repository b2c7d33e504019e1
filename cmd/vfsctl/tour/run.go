package tour

import (
	"os"
	"os/exec"
	"strings"
	"time"

	"vfsdb/cmd/vfsctl/human"
	"vfsdb/cmd/vfsctl/term"
	"vfsdb/run"
)

// counted is the file that a program writes in the branch.
const counted = "tour-lines.txt"

// program runs a shell in the branch, which changes it.
func (t *guide) program() error {
	script := "wc -l <" + newFile + " | tee " + counted
	command := t.command("--branch", "try", "run", "--", "sh", "-c", script)
	call := `run.Command(ctx, try, run.Options{}, "sh", "-c", "...").Run()`
	if _, err := exec.LookPath("sh"); err != nil {
		return t.show("Run a program in the branch", 0, command, call, t.Out.Paint(term.Dim, "left out: there is no shell sh here"))
	}

	// Where the tree is copied for the program, the copy goes with the tour.
	cache, err := os.MkdirTemp("", "vfsctl-tour-copy-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(cache)
	start := time.Now()
	cmd := run.Command(t.ctx, t.try, run.Options{Cache: cache}, "sh", "-c", script)
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	return t.show("Run a program in the branch", time.Since(start), command, call,
		"it printed "+strings.TrimSpace(string(out)), t.Out.Paint(term.Dim, "back in one commit: "+human.Plural(int64(cmd.Result.Changed), "path", "paths")))
}
