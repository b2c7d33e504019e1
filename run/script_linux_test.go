package run_test

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// scriptEnv makes the test binary a command that does what a script on its standard input says, in its working directory. It
// answers with the outcome of each line, and at the end with a list of all files, as it sees them.
const scriptEnv = "VFS_TEST_SCRIPT"

// runScript is that command.
func runScript() error {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		err := runLine(strings.Fields(lines.Text()))
		var errno syscall.Errno
		if err != nil && !errors.As(err, &errno) {
			return err
		}
		fmt.Printf("%s: %v\n", lines.Text(), err != nil)
	}
	fmt.Println(listBegins)
	list, err := listDir(".")
	fmt.Print(strings.Join(list, ""))
	return errors.Join(lines.Err(), err)
}

// listBegins is the line between the outcomes and the list.
const listBegins = "--"

// runLine does one line of a script: a verb, a path, and maybe a further path and a number.
func runLine(line []string) error {
	verb, path := line[0], line[1]
	arg := func(i int) int64 {
		n, err := strconv.ParseInt(line[i], 0, 64)
		if err != nil {
			panic(err)
		}
		return n
	}

	switch verb {
	case "write":
		return change(path, os.O_CREATE|os.O_TRUNC, func(f *os.File) error {
			_, err := f.Write(filler(arg(2), arg(3)))
			return err
		})
	case "append":
		return change(path, os.O_APPEND, func(f *os.File) error {
			_, err := f.Write(filler(arg(2), arg(3)))
			return err
		})
	case "patch":
		return change(path, 0, func(f *os.File) error {
			_, err := f.WriteAt(filler(arg(2), 10), arg(3))
			return err
		})
	case "save": // as editors do
		if err := os.WriteFile(path+"~", filler(arg(2), arg(3)), 0o600); err != nil {
			return err
		}
		return os.Rename(path+"~", path)
	case "truncate":
		return os.Truncate(path, arg(2))
	case "mkdir":
		return os.Mkdir(path, 0o750)
	case "rename":
		info, err := os.Lstat(path)
		if err == nil && info.IsDir() && os.Geteuid() != 0 && !strings.HasPrefix(filepath.Base(path), "n") {
			return syscall.EXDEV // which the kernel says to users where the directory is of the lower layer
		}
		return os.Rename(path, line[2])
	case "link":
		return os.Link(path, line[2])
	case "symlink":
		return os.Symlink(line[2], path)
	case "mkfifo":
		return syscall.Mkfifo(path, 0o620)
	case "chmod":
		if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return syscall.EOPNOTSUPP
		}
		return syscall.Chmod(path, uint32(arg(2)))
	case "chown":
		return os.Lchown(path, int(arg(2)), int(arg(3)))
	case "utimes":
		when := time.Unix(arg(2), 123456789)
		return os.Chtimes(path, when, when)
	case "unlink":
		return syscall.Unlink(path)
	case "rmdir":
		return syscall.Rmdir(path)
	case "rmtree":
		if _, err := os.Lstat(path); err != nil {
			return err
		}
		return os.RemoveAll(path)
	}
	panic("no verb " + verb)
}

func change(path string, flags int, fn func(*os.File) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK|flags, 0o640) // a fifo is not waited for
	if err != nil {
		return err
	}
	return errors.Join(fn(f), f.Close())
}

// filler returns n bytes that follow from a seed.
func filler(seed, n int64) []byte {
	random := rand.New(rand.NewPCG(uint64(seed), 1))
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(random.Uint32())
	}
	return p
}

// listDir describes every file below a directory, and the directory, each in a line.
func listDir(dir string) (list []string, err error) {
	first := make(map[uint64]string) // names of files with several
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil && d == nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		line, err := describe(path, info)
		if err != nil {
			return err
		}
		st := info.Sys().(*syscall.Stat_t)
		if !d.IsDir() && st.Nlink > 1 {
			if first[st.Ino] == "" {
				first[st.Ino] = name
			}
			line += " of " + first[st.Ino]
		}
		list = append(list, name+" "+line+"\n")
		return nil
	})
	slices.Sort(list)
	return list, err
}

// describe describes a file, but its links.
func describe(path string, info fs.FileInfo) (string, error) {
	st := info.Sys().(*syscall.Stat_t)
	line := fmt.Sprintf("%v %d:%d %d", info.Mode(), st.Uid, st.Gid, info.ModTime().UnixNano())
	switch info.Mode().Type() {
	case fs.ModeSymlink:
		target, err := os.Readlink(path)
		return line + " -> " + target, err
	case 0:
		f, err := os.Open(path)
		if err != nil {
			return line + " unreadable", nil
		}
		defer f.Close()
		sum := sha256.New()
		n, err := io.Copy(sum, f)
		return fmt.Sprintf("%s %d %x", line, n, sum.Sum(nil)[:6]), err
	}
	return line, nil
}
