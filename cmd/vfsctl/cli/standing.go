package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"vfsdb/vfs"
)

// A standing is the branch of a database that a user has switched to.
//
// It is a file of the user, in a directory for the state of programs. Beside the database it would be one for all users, and
// none where the database is read-only. The place of the database names the file, so a copy has a standing of its own. The
// id of the store is in it, so another database that comes to the same place has none.
//
// The file is replaced as a whole. Two shells of one user share it, and the last switch counts; a command that
// runs stays on its branch.
type standing struct {
	DB       string `json:"db"`
	ID       string `json:"id"`
	Branch   string `json:"branch"`
	Previous string `json:"previous"` // the branch before, for "switch -"
}

// StateDir returns the directory of the user for the state of this program.
func StateDir() (string, error) {
	dir, err := os.Getenv("XDG_STATE_HOME"), error(nil)
	switch {
	case filepath.IsAbs(dir):
	case runtime.GOOS == "windows" || runtime.GOOS == "darwin":
		dir, err = os.UserConfigDir()
	default:
		if dir, err = os.UserHomeDir(); err == nil {
			dir = filepath.Join(dir, ".local", "state")
		}
	}
	return filepath.Join(dir, "vfsctl"), err
}

// standingFile returns the file of the standing in a database, and the real path of the database.
func standingFile(db string) (name, real string, err error) {
	dir, err := StateDir()
	if err != nil {
		return "", "", fmt.Errorf("switch remembers the branch in a directory of the user, and there is none: %w", err)
	}
	if real, err = filepath.EvalSymlinks(db); err == nil {
		real, err = filepath.Abs(real)
	}
	sum := sha256.Sum256([]byte(real))
	return filepath.Join(dir, "branches", hex.EncodeToString(sum[:12])+".json"), real, err
}

// loadStanding returns what switch has remembered for the database at a path, or nil.
func loadStanding(db string) (*standing, error) {
	name, _, err := standingFile(db)
	if err != nil {
		return nil, nil // then switch could not remember anything
	}
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if _, hidden := os.Lstat(name); errors.Is(hidden, fs.ErrPermission) {
		return nil, nil // $HOME is another user's, as some ways to become a user leave it, and switch remembers nothing there
	}

	var s standing
	if err == nil {
		if json.Unmarshal(text, &s) != nil || s.Branch == "" {
			err = fmt.Errorf("%w: this is no branch that switch has remembered; the next switch writes it anew", syscall.EINVAL)
		}
	}
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: cause(err)}
	}
	return &s, nil
}

// save remembers the standing.
func (s *standing) save(name string) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}

	part, err := os.CreateTemp(filepath.Dir(name), ".part-*")
	if err != nil {
		return err
	}
	_, err = part.Write(append(text, '\n'))
	err = errors.Join(err, part.Close())
	if err == nil {
		err = os.Rename(part.Name(), name)
	}
	if err != nil {
		os.Remove(part.Name())
	}
	return err
}

// ofStore returns what switch has remembered for the store that is open, and its file. Without anything that can be read, and
// where another store was at the same place, it is main.
func (a *App) ofStore(ctx context.Context, fsys *vfs.FS) (s *standing, name string, err error) {
	name, real, err := standingFile(a.DB)
	if err != nil {
		return nil, "", err
	}
	id, err := fsys.Store().ID(ctx)
	if err != nil {
		return nil, "", a.OfStore(err)
	}
	if s, err = loadStanding(a.DB); err != nil || s == nil || s.ID != id {
		s = &standing{Branch: vfs.MainBranch}
	}
	s.DB, s.ID = real, id
	return s, name, nil
}

// CanSwitch returns the error that Switch would have for want of a directory to remember the branch in.
func (a *App) CanSwitch() error {
	name, _, err := standingFile(a.DB)
	if err != nil {
		return err
	}
	return os.MkdirAll(filepath.Dir(name), 0o700)
}

// Switch remembers the branch on which later commands of the user stand, and returns the one before. The caller knows that
// the branch exists.
func (a *App) Switch(ctx context.Context, fsys *vfs.FS, to string) (from string, err error) {
	s, name, err := a.ofStore(ctx, fsys)
	if err != nil {
		return "", err
	}
	from = s.Branch
	shell := a.here()
	if shell != nil {
		from = shell.Branch
	}
	if from != to {
		s.Previous = from
	}
	s.Branch = to
	if err := s.save(name); err != nil {
		return "", err
	}

	if shell != nil {
		shell.standOn(to)
		return from, nil
	}
	if env := os.Getenv(branchEnv); env != "" && env != to {
		a.Warn("$%s is %s, and counts before the branch that switch remembers", branchEnv, env)
	}
	return from, nil
}

// SwitchedFrom returns the branch on which the user stood before the last switch.
func (a *App) SwitchedFrom(ctx context.Context, fsys *vfs.FS) (string, error) {
	s, _, err := a.ofStore(ctx, fsys)
	if err == nil && s.Previous == "" {
		err = &fs.PathError{Op: "switch", Path: "-", Err: fmt.Errorf("%w: no branch is remembered from before", syscall.ENOENT)}
	}
	if err != nil {
		return "", err
	}
	return s.Previous, nil
}

// Remembered returns the branch that switch has remembered for the store that is open, or "".
func (a *App) Remembered(ctx context.Context, fsys *vfs.FS) string {
	if kept, err := loadStanding(a.DB); err != nil || kept == nil {
		return ""
	}
	s, _, err := a.ofStore(ctx, fsys)
	if err != nil {
		return ""
	}
	return s.Branch
}

// Standing returns the branch that commands stand on, in a command about the whole database, which itself stands on none.
func (a *App) Standing(ctx context.Context, fsys *vfs.FS) string {
	if s := a.here(); s != nil {
		return cmp.Or(a.Branch, s.Branch)
	}
	return cmp.Or(a.Branch, os.Getenv(branchEnv), a.Remembered(ctx, fsys), vfs.MainBranch)
}

// FollowRename keeps the user on a branch that gets another name.
func (a *App) FollowRename(ctx context.Context, fsys *vfs.FS, from, to string) error {
	if s := a.here(); s != nil && s.Branch == from {
		s.Branch = to
	}
	if kept, err := loadStanding(a.DB); err != nil || kept == nil {
		return nil // the rename is no reason to report it
	}
	s, name, err := a.ofStore(ctx, fsys)
	if err != nil || s.Branch != from && s.Previous != from {
		return err
	}
	for _, branch := range []*string{&s.Branch, &s.Previous} {
		if *branch == from {
			*branch = to
		}
	}
	return s.save(name)
}

// recall looks whether the branch that switch remembers is of the store at hand. If it is of another store that was at the
// same place, the store is opened on main. fsys and err are the result of opening it on the branch.
func (a *App) recall(ctx context.Context, use Access, fsys *vfs.FS, err error) (*vfs.FS, error) {
	at := fsys
	switch {
	case errors.Is(err, fs.ErrNotExist):
		main, failed := a.openOn(ctx, Reads, "")
		if failed != nil {
			return nil, err
		}
		defer main.Close()
		at = main
	case err != nil:
		return nil, err
	}

	id, failed := at.Store().ID(ctx)
	if failed == nil && id == a.kept.ID {
		return fsys, err
	}
	if fsys != nil {
		failed = errors.Join(failed, fsys.Close())
	}
	if failed != nil {
		return nil, failed
	}
	a.Branch, a.kept = "", nil
	return a.openOn(ctx, use, "")
}
