package tool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool/texts"
	"vfsdb/vfs"
)

// An OperationError is the error of one operation of apply. None of the operations happened.
type OperationError struct {
	Index, Of int // its index, from 0, and how many there are
	Tool      string
	Err       error
}

func (e *OperationError) Error() string {
	return fmt.Sprintf("operation %d of %d (%s): %v", e.Index+1, e.Of, e.Tool, e.Err)
}

// Unwrap returns the reason.
func (e *OperationError) Unwrap() error { return e.Err }

// Explain returns the text of an error for a model: the operation, the path, the reason, and advice on the next step.
// It is the default of a profile.
func Explain(b *Toolbox, err error) string {
	text := Reason(err)
	if hint := advice(b, err); hint != "" {
		return text + ". " + hint
	}
	return text
}

// explain returns the text of an error in the words of the profile.
func (b *Toolbox) explain(err error) string {
	if b.profile.Explain == nil {
		return Explain(b, err)
	}
	return b.profile.Explain(b, err)
}

// Reason returns an error as models read it: paths have a slash in front, and no verb of the store is named.
func Reason(err error) string {
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
		return fmt.Sprintf("operation %d of %d (%s) failed, so none was done: %s", op.Index+1, op.Of, op.Tool, Reason(op.Err))
	case errors.As(err, &path) && momentVerbs[path.Op]:
		return fmt.Sprintf("%s '%s': %s", path.Op, path.Path, Reason(path.Err))
	case errors.As(err, &path) && path.Path != "":
		return fmt.Sprintf("'%s': %s", shown(path.Path), Reason(path.Err))
	case errors.As(err, &link):
		return fmt.Sprintf("'%s' to '%s': %s", shown(link.Old), shown(link.New), Reason(link.Err))
	}

	return err.Error()
}

// momentVerbs are the operations whose errors name a snapshot or a branch, not a path.
var momentVerbs = map[string]bool{"snapshot": true, "delete snapshot": true, "branch": true, "restore": true, "open": true, "find snapshot or branch": true}

// shown returns a path as models know it.
func shown(path string) string {
	if strings.HasPrefix(path, "/") {
		return path
	}
	return policy.Rooted(path)
}

// advice returns the next step after an error; "" if that is plain.
func advice(b *Toolbox, err error) string {
	var stale *vfs.StaleError
	var edit *EditError
	var refused *policy.Error
	var parent *NoParentError
	switch {
	case unreachable(err):
		return "No tool can repair that: tell the person you work for"
	case errors.As(err, &stale) && stale.Exists && !errors.Is(err, fs.ErrExist):
		return "Somebody else changed it after you read it. Read it again, redo your change on what is there now, and pass its new sum as ifSum"
	case errors.As(err, &edit) && edit.Found == 0:
		return "Nothing was changed. Read the file and copy the old text exactly, with its spaces and line breaks"
	case errors.As(err, &edit):
		return fmt.Sprintf("Nothing was changed. It begins on lines %s: add lines around it until it is unique", texts.Numbers(edit.Lines))
	case errors.As(err, &refused) && refused.Why == "" && len(b.policy.Paths) > 0:
		return "Allowed: " + strings.Join(RootedAll(b.policy.Paths), ", ")
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
