package tool

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"syscall"
	"time"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool/program"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// Run runs a command of a shell in the branch, if the policy lets tools start its programs. timeout shortens the
// policy's; 0 is the policy's. Calls that move the tools to another branch wait for it. The ref names the branch that
// has what the command changed, and tools may look at it.
func (h *History) Run(ctx context.Context, command string, timeout time.Duration) (*program.Result, Ref, error) {
	b := h.box
	if err := b.policy.MayRun(command); err != nil {
		return nil, Ref{}, err
	}
	if b.policy.AsksRun() {
		if err := b.ask(ctx, Approval{policy.Run, "/"}); err != nil {
			return nil, Ref{}, err
		}
	}
	rules := b.policy.Programs
	most := cmp.Or(time.Duration(rules.Timeout), policy.DefaultTimeout)
	if timeout < 0 || timeout > most {
		return nil, Ref{}, Refuse(syscall.EINVAL, "the timeout is %v: a command here may take at most %v", timeout, most)
	}

	defer b.hold()()
	if err := b.update(ctx, "run", func(*vfs.Tx) error { return nil }); err != nil {
		return nil, Ref{}, err
	}
	ref, err := RefOf(ctx, b.fsys)
	if err != nil {
		return nil, Ref{}, err
	}

	r, err := b.config.Programs(ctx, b.fsys, program.Request{
		Command: command, Dir: strings.TrimPrefix(b.config.Dir, "/"), Timeout: cmp.Or(timeout, most), Output: cmp.Or(int(rules.Output), b.caps.ResultBytes),
		Env: rules.Env, NoNetwork: rules.Network == "none", Confine: rules.Confine,
	})
	if errors.Is(err, syscall.EBUSY) {
		err = Refuse(syscall.EIO, "%v", err) // a call that finds the store busy is made again, and this one has run a program
	}
	if err != nil {
		return nil, Ref{}, err
	}

	if r.Moved {
		tree, err := snapshot.Resolve(ctx, b.fsys, r.Branch)
		if err != nil {
			return nil, Ref{}, err
		}
		b.at.grant(tree.Tree())
	}
	ref.Branch = r.Branch
	return r, ref, nil
}

// lacksPrograms returns the reason why nothing can be run here, beside the policy; "" if it can.
func (b *Toolbox) lacksPrograms() string {
	switch fsys := b.FS(); {
	case b.config.Programs == nil && b.policy.Grants(policy.Run):
		return "nothing here runs programs"
	case fsys != nil && !fsys.Whole():
		return "a program sees a whole branch, and this workspace is a directory of one"
	case len(b.config.Routes) > 0:
		return "a program sees one branch, and paths of this workspace are routed to others"
	}
	return ""
}
