package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"
)

// find chooses the database: that of --db, else that of $VFS_DB, else [defaultDB] in the working directory or, if it is not
// there, in the nearest directory above. It reports no fault of the database: a command may need none.
func (a *App) find(cmd *cobra.Command) {
	a.above, a.foreign = "", nil
	if cmd.Flags().Changed("db") {
		return
	}
	if a.DB = os.Getenv(databaseEnv); a.DB != "" {
		return
	}

	a.DB = defaultDB
	if _, err := os.Lstat(defaultDB); err == nil {
		return
	}
	if a.above = above(); a.above != "" {
		a.DB, a.foreign = a.above, refuseForeign(a.above)
	}
}

// above looks for a database in the directories above the working directory, as git looks for a repository, and returns its
// path, or "". The search ends where another file system begins. It also ends, unlike git's, at a directory in which
// every user may create files, such as /tmp: what lies there belongs to no project.
func above() string {
	at, err := os.Stat(".")
	if err != nil {
		return ""
	}

	for dir := ".."; ; dir = filepath.Join(dir, "..") {
		up, err := os.Stat(dir)
		if err != nil || os.SameFile(at, up) || !sameDevice(at, up) || isShared(up) {
			return ""
		}
		name := filepath.Join(dir, defaultDB)
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
			return name
		}
		at = up
	}
}

// isShared reports whether every user may create files in a directory.
func isShared(dir fs.FileInfo) bool {
	return dir.Mode()&fs.ModeSticky != 0 && dir.Mode().Perm()&0o002 != 0
}

// refuseForeign refuses a database that was found and belongs to another user. Nobody named it, and what a command writes
// would be that user's to read.
func refuseForeign(name string) error {
	mine, err := belongsToUser(name)
	if err == nil && !mine {
		err = fmt.Errorf("%w: it belongs to another user, and is above the working directory; --db %s names it on purpose, and init makes one here", syscall.EPERM, name)
	}
	if err != nil {
		return &fs.PathError{Op: "open", Path: name, Err: cause(err)}
	}
	return nil
}

// Here makes the App stand on main of a database in the working directory, if it would use one that was found above, and
// returns that one, or "".
func (a *App) Here() (found string) {
	if found = a.above; found != "" {
		a.Use(defaultDB, "")
	}
	return found
}

// SayAbove names the database that was found above the working directory, in a command that else creates one here.
func (a *App) SayAbove() {
	if a.above != "" {
		a.Warn("using %s: there is no database in this directory", a.above)
	}
}
