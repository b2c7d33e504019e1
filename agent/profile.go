package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"vfsdb/vfs"
)

// A Profile is a set of tools as one family of agents knows them: it names, shapes and sets defaults, and leaves the
// work to the guard's verbs.
type Profile struct {
	Name    string
	About   string // one line, for people
	Prepare func(*Config)
	Refuses func(path string) error // a path, as a model wrote it, that these tools never take; nil takes all
	Routes  bool                    // its tools go where a [Route] leads
	Tools   func(b *Toolbox) []*Tool
	Explain func(b *Toolbox, err error) string // what the model reads of an error
	Prompt  func(b *Toolbox) string
	Tagged  bool // what is shown of the store stands inside tags, see [Toolbox.tag]

	// Prefix is what the names of the tools begin with, and what a list of actions may leave out; nil is nothing.
	Prefix func(b *Toolbox) string
}

// profiles are all there are; the first is the default.
var profiles = []*Profile{
	Helix,
	Module2,
	Dofs,
	Deepagents,
	MCPFilesystem,
	ClaudeEditor,
	ClaudeMemory,
	ApplyPatch,
	ClaudeCode,
}

// Profiles returns the profiles, the default first.
func Profiles() []*Profile { return slices.Clone(profiles) }

// FindProfile returns the profile of a name; "" is the default. Another name is EINVAL.
func FindProfile(name string) (*Profile, error) {
	if name == "" {
		return profiles[0], nil
	}
	names := make([]string, len(profiles))
	for i, p := range profiles {
		if p.Name == name {
			return p, nil
		}
		names[i] = p.Name
	}
	return nil, fmt.Errorf("no profile is called %q; there are: %s: %w", name, strings.Join(names, ", "), syscall.EINVAL)
}

// startAllowed lets relative paths, and searches without a path, begin in the first directory that is allowed.
func startAllowed(c *Config) {
	if c.Dir == "" && len(c.Policy.Paths) > 0 {
		c.Dir = rooted(c.Policy.Paths[0])
	}
}

// Prompt is what to tell a model about the tools, in its system prompt; "" if there are none.
func (b *Toolbox) Prompt() string {
	if b.profile.Prompt == nil || len(b.tools) == 0 {
		return ""
	}
	return b.profile.Prompt(b)
}

// explain is what a model reads of an error, unless its profile has words of its own: what was asked, of what, why not,
// and what to do next.
func explain(b *Toolbox, err error) string {
	text := reason(err)
	if hint := advice(b, err); hint != "" {
		return text + ". " + hint
	}
	return text
}

// reason is an error in the words of models: paths with a slash in front, and no name of a verb of ours.
func reason(err error) string {
	var op *OperationError
	var path *fs.PathError
	var link *os.LinkError
	var evicted *EvictedError
	var failed *FailedError
	var gone *GoneError
	switch {
	case errors.As(err, &evicted):
		return "the workspace is gone: its database was moved or replaced"
	case errors.As(err, &failed):
		return "the workspace cannot be opened"
	case errors.As(err, &gone):
		return gone.Error()
	case errors.As(err, &op):
		return fmt.Sprintf("operation %d of %d (%s) failed, so none was done: %s", op.Index+1, op.Of, op.Tool, reason(op.Err))
	case errors.As(err, &path) && momentVerbs[path.Op]:
		return fmt.Sprintf("%s '%s': %s", path.Op, path.Path, reason(path.Err))
	case errors.As(err, &path) && path.Path != "":
		return fmt.Sprintf("'%s': %s", shown(path.Path), reason(path.Err))
	case errors.As(err, &link):
		return fmt.Sprintf("'%s' to '%s': %s", shown(link.Old), shown(link.New), reason(link.Err))
	}
	return err.Error()
}

// momentVerbs are the operations whose errors name a snapshot or a branch, not a path.
var momentVerbs = map[string]bool{"snapshot": true, "delete snapshot": true, "branch": true, "restore": true, "open": true, "find snapshot or branch": true}

// shown is a path as models know it.
func shown(path string) string {
	if strings.HasPrefix(path, "/") {
		return path
	}
	return rooted(path)
}

// advice says what to do about an error; "" if that is plain.
func advice(b *Toolbox, err error) string {
	var stale *vfs.StaleError
	var edit *EditError
	var policy *PolicyError
	var parent *NoParentError
	switch {
	case unreachable(err):
		return "No tool can repair that: tell the person you work for"
	case errors.As(err, &stale) && stale.Exists && !errors.Is(err, fs.ErrExist):
		return "Somebody else changed it after you read it. Read it again, redo your change on what is there now, and pass its new sum as ifSum"
	case errors.As(err, &edit) && edit.Found == 0:
		return "Nothing was changed. Read the file and copy the old text exactly, with its spaces and line breaks"
	case errors.As(err, &edit):
		return fmt.Sprintf("Nothing was changed. It begins on lines %s: add lines around it until it is unique", joined(edit.Lines))
	case errors.As(err, &policy) && policy.Why == "" && len(b.policy.Paths) > 0:
		return "Allowed: " + strings.Join(rootedAll(b.policy.Paths), ", ")
	case errors.Is(err, syscall.EROFS):
		return "This workspace cannot be changed at present"
	case errors.Is(err, syscall.EBUSY):
		return "Others are writing; try again in a moment"
	case errors.As(err, &parent):
		return "Make it first"
	case errors.Is(err, syscall.ENOTEMPTY):
		return "Set recursive to remove it with all that is in it"
	}
	return ""
}

func joined(lines []int) string {
	text := make([]string, len(lines))
	for i, l := range lines {
		text[i] = fmt.Sprint(l)
	}
	return strings.Join(text, ", ")
}

func rootedAll(paths []string) []string {
	out := slices.Clone(paths)
	for i, p := range out {
		out[i] = rooted(p)
	}
	return out
}
