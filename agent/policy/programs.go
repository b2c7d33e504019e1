package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"vfsdb/agent/policy/shell"
)

// Programs grants that tools run programs of the host in the branch, and bounds them. A program sees the whole branch
// and changes any of it, so a policy that grants some paths, some permissions or a quota cannot grant programs too.
//
// Commands is about the names that a model may start, and no wall: a program can start others. Use Confine and Network
// for walls.
type Programs struct {
	// Commands are the names of the programs that may be started, as in "go" or "./build.sh"; "*" is any. A command is
	// refused if its programs cannot be known before it runs.
	Commands []string `json:"commands"`

	// Timeout bounds one command: "90s", "10m". The default is 2 minutes.
	Timeout Span `json:"timeout,omitempty"`

	// Output bounds the output of one command that the model gets, in bytes. The default is that of a tool's result.
	Output Size `json:"output,omitempty"`

	// Env are the names of variables of the host that programs get, beside those that most need, such as PATH and HOME.
	// They get no others, since there may be secrets in them.
	Env []string `json:"env,omitempty"`

	// Network is "none" for programs without a network; "" and "host" are that of the host.
	Network string `json:"network,omitempty"`

	// Confine lets programs write in the branch and a directory for temporary files alone.
	Confine bool `json:"confine,omitempty"`
}

// DefaultTimeout bounds a command whose policy has no timeout.
const DefaultTimeout = 2 * time.Minute

// MaxTimeout is the longest timeout of a command.
const MaxTimeout = 24 * time.Hour

// AnyProgram stands for all programs in [Programs.Commands].
const AnyProgram = "*"

// MayRun refuses a command of a POSIX shell that the policy does not allow. It is EACCES; a text that no shell would
// take is EINVAL.
func (p *Policy) MayRun(command string) error {
	switch {
	case !p.Grants(Run):
		return &Error{Permission: Run, Why: "this workspace grants no programs"}
	case strings.Contains(command, "\x00"):
		return fmt.Errorf("the command has a NUL byte: %w", syscall.EINVAL)
	case slices.Contains(p.Programs.Commands, AnyProgram):
		return nil
	}

	listed := strings.Join(p.Programs.Commands, ", ")
	names, err := shell.Programs(command)
	var hidden *shell.HiddenError
	switch {
	case errors.As(err, &hidden):
		return &Error{Permission: Run, Why: fmt.Sprintf("%s; write out the programs, of which these may be started: %s", hidden.Why, listed)}
	case err != nil:
		return fmt.Errorf("read the command: %w", err)
	}
	for _, name := range names {
		if !slices.Contains(p.Programs.Commands, name) {
			return &Error{Permission: Run, Why: fmt.Sprintf("the program '%s' is not among those that may be started: %s", name, listed)}
		}
	}
	return nil
}

// AsksRun reports whether somebody has to approve a command: if that is so for programs, or for any use of a path, since
// a program can make that use.
func (p *Policy) AsksRun() bool {
	return slices.ContainsFunc(p.Ask, func(r Rule) bool {
		return len(r.Permissions) == 0 || slices.ContainsFunc(r.Permissions, func(perm Permission) bool { return perm != Snapshot })
	})
}

// checkPrograms refuses programs beside what cannot hold for them.
func (p *Policy) checkPrograms() error {
	if p.Programs == nil {
		if slices.Contains(p.Permissions, Run) {
			return fmt.Errorf("policy: the permission %s needs programs, with their commands: %w", Run, syscall.EINVAL)
		}
		return nil
	}
	r := p.Programs
	bad := func(format string, args ...any) error {
		return fmt.Errorf("policy: programs: "+format+": %w", append(args, syscall.EINVAL)...)
	}

	for key, set := range map[string]bool{
		"paths": len(p.Paths) > 0, "deny": len(p.Deny) > 0, "read_only": len(p.ReadOnly) > 0,
		"max_file_size": p.MaxFileSize > 0, "max_write_size": p.MaxWriteSize > 0,
		"max_bytes": p.MaxBytes > 0, "max_entries": p.MaxEntries > 0,
	} {
		if set {
			return bad("a program sees and changes the whole branch, so the policy cannot have %s beside them", key)
		}
	}
	if p.Permissions != nil {
		for _, perm := range []Permission{List, Read, Write, Delete, Run} {
			if !slices.Contains(p.Permissions, perm) {
				return bad("they need the permission %s too", perm)
			}
		}
	}

	switch {
	case len(r.Commands) == 0:
		return bad("commands is empty: name the programs that may be started, or \"*\" for all")
	case slices.Contains(r.Commands, ""):
		return bad("commands has an empty name")
	case r.Timeout < 0 || time.Duration(r.Timeout) > MaxTimeout:
		return bad("timeout is %v: it is at most %v", time.Duration(r.Timeout), MaxTimeout)
	case r.Output < 0:
		return bad("output is %d: it has a bound", r.Output)
	case r.Network != "" && r.Network != "host" && r.Network != "none":
		return bad("network is %q: there are host and none", r.Network)
	}
	for _, name := range r.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return bad("env: %q is no name of a variable", name)
		}
	}
	for _, name := range r.Commands {
		if name != filepath.Clean(name) && name != "./"+filepath.Clean(name) {
			return bad("commands: write %q as %q", name, filepath.Clean(name))
		}
	}
	return nil
}

// A Span is a time that a call may take. As text it has a unit: 90s, 10m, 1h30m.
type Span time.Duration

// UnmarshalJSON takes a text such as "90s", or a number of seconds.
func (s *Span) UnmarshalJSON(data []byte) error {
	var seconds int64
	if err := json.Unmarshal(data, &seconds); err == nil {
		if seconds < 0 || seconds > int64(MaxTimeout/time.Second) {
			return fmt.Errorf("%d seconds are no time from 0 to %v: %w", seconds, MaxTimeout, syscall.EINVAL)
		}
		*s = Span(time.Duration(seconds) * time.Second)
		return nil
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("%s is no time such as 90s or 10m: %w", data, syscall.EINVAL)
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("%q is no time such as 90s or 10m: %w", text, syscall.EINVAL)
	}
	*s = Span(d)
	return nil
}
