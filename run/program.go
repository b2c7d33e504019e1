package run

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// findProgram returns the path of the program that a command names, as a shell with the environment env finds it from dir.
// Its error is a [StartError].
func findProgram(name, dir string, env []string) (string, error) {
	if runtime.GOOS == "windows" {
		path, err := exec.LookPath(name)
		if err != nil {
			err = &StartError{name, cause(err)}
		}
		return path, err
	}

	if strings.Contains(name, "/") || name == "." || name == ".." {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, name)
		}
		if err := executable(path); err != nil {
			return "", &StartError{name, err}
		}
		return path, nil
	}

	// As in a shell, a program that may not be executed hides none behind it, and is the reason if there is no other.
	var why error = syscall.ENOENT
	for _, in := range filepath.SplitList(lookUp(env, "PATH")) {
		if !filepath.IsAbs(in) {
			in = filepath.Join(dir, in)
		}
		path := filepath.Join(in, name)
		err := executable(path)
		if err == nil {
			return path, nil
		}
		if errors.Is(err, syscall.EACCES) {
			why = err
		}
	}
	return "", &StartError{name, why}
}

// unguarded finds the program of a command that this process starts itself.
func unguarded(cmd *exec.Cmd) (_ *exec.Cmd, start func() error, err error) {
	cmd.Path, err = findProgram(cmd.Args[0], cmd.Dir, cmd.Env)
	return cmd, cmd.Start, err
}

// executable refuses anything but a file that can be executed.
func executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return cause(err)
	case info.IsDir():
		return syscall.EISDIR
	case info.Mode().Perm()&0o111 == 0:
		return syscall.EACCES
	}
	return nil
}

// cause returns an error without the names that wrap it.
func cause(err error) error {
	var (
		p *fs.PathError
		e *exec.Error
	)
	switch {
	case errors.As(err, &p):
		return p.Err
	case errors.As(err, &e) && errors.Is(e.Err, exec.ErrNotFound):
		return syscall.ENOENT
	case errors.As(err, &e):
		return e.Err
	}
	return err
}
