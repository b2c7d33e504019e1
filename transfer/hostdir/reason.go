package hostdir

import (
	"io/fs"
	"os"
)

// Reason returns the text of an error without the path and the verb that wrap it, for a list that names the path itself.
func Reason(err error) string {
	for {
		switch e := err.(type) {
		case *fs.PathError:
			err = e.Err
		case *os.LinkError:
			err = e.Err
		case *os.SyscallError:
			err = e.Err
		default:
			return err.Error()
		}
	}
}
