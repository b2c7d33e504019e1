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

// A profile is a set of tools as one family of agents knows them: it names, shapes and sets defaults, and leaves the
// work to the guard's verbs.
type profile struct {
	name    string
	about   string // one line, for people
	prepare func(b *Toolbox) error
	refuses func(path string) error // a path, as a model wrote it, that these tools never take; nil takes all
	routes  bool                    // its tools go where a [Route] leads
	tools   func(b *Toolbox) []*Tool
	explain func(b *Toolbox, err error) string // what the model reads of an error
	prompt  func(b *Toolbox) string
	tagged  bool // what is shown of the store stands inside tags, see [Toolbox.tag]
}

// profiles are all there are; the first is the default.
var profiles = []*profile{
	helix,
	module2,
	dofs,
	deepagents,
	mcpFilesystem,
	claudeEditor,
	claudeMemory,
	applyPatch,
	claudeCode,
}

// startAllowed lets relative paths, and searches without a path, begin in the first directory that is allowed.
func startAllowed(b *Toolbox) error {
	if b.config.Dir == "" && len(b.policy.Paths) > 0 {
		b.config.Dir = rooted(b.policy.Paths[0])
	}
	return nil
}

// A Profile is a set of tools that [Config.Profile] can name.
type Profile struct{ Name, About string }

// Profiles returns the profiles, the default first.
func Profiles() []Profile {
	list := make([]Profile, len(profiles))
	for i, p := range profiles {
		list[i] = Profile{p.name, p.about}
	}
	return list
}

func findProfile(name string) (*profile, error) {
	if name == "" {
		return profiles[0], nil
	}
	names := make([]string, len(profiles))
	for i, p := range profiles {
		if p.name == name {
			return p, nil
		}
		names[i] = p.name
	}
	return nil, fmt.Errorf("no profile is called %q; there are: %s: %w", name, strings.Join(names, ", "), syscall.EINVAL)
}

// adapt lets a profile set what it presumes of the box.
func (p *profile) adapt(b *Toolbox) error {
	if p.prepare == nil {
		return nil
	}
	return p.prepare(b)
}

// Prompt is what to tell a model about the tools, in its system prompt; "" if there are none.
func (b *Toolbox) Prompt() string {
	if b.profile.prompt == nil || len(b.tools) == 0 {
		return ""
	}
	return b.profile.prompt(b)
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
