package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// An object is a content of a repository that is wanted.
type object struct {
	oid string
	to  *blob
}

// Objects reads contents of a repository, by one git cat-file. That takes half the time that git fast-export takes for them.
type objects struct {
	cmd  *exec.Cmd
	errs *tail
	stop context.CancelFunc
	in   io.WriteCloser
	out  *bufio.Reader
}

// openObjects starts git. It must be closed.
func openObjects(ctx context.Context, dir string) (*objects, error) {
	ctx, stop := context.WithCancel(ctx)
	o := &objects{stop: stop}
	o.cmd, o.errs = command(ctx, dir, "cat-file", "--batch")
	in, err := o.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := o.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	o.in, o.out = in, bufio.NewReaderSize(out, 256<<10)
	if err := o.cmd.Start(); err != nil {
		stop()
		return nil, startErr(err)
	}
	return o, nil
}

// close ends git. err is the error of the import, if any; one that git has made gets its words.
func (o *objects) close(err error) error {
	if err != nil {
		o.stop()
	}
	o.in.Close()
	ended := o.cmd.Wait()
	o.stop()
	if ended != nil && (err == nil || errors.Is(err, errObjects)) {
		return errors.Join(err, failed(o.cmd, ended, o.errs))
	}
	return err
}

// errObjects is that git cat-file has ended, or answers something else than contents.
var errObjects = errors.New("git cat-file gives no answer")

// each calls fn for the content of each object, in order. A nil *objects has none that could be wanted.
func (o *objects) each(wanted []object, fn func(to *blob, size int64, r io.Reader) error) error {
	if len(wanted) == 0 {
		return nil
	}

	// Git is asked and read at the same time: the pipes in both directions are small.
	asked := make(chan error, 1)
	go func() {
		w := bufio.NewWriter(o.in)
		for _, want := range wanted {
			_, _ = w.WriteString(want.oid + "\n")
		}
		asked <- w.Flush()
	}()
	for _, want := range wanted {
		if err := o.next(want, fn); err != nil {
			o.stop() // so that the asking ends too
			<-asked
			return err
		}
	}
	return <-asked
}

// next reads the next answer of git.
func (o *objects) next(want object, fn func(to *blob, size int64, r io.Reader) error) error {
	line, err := o.out.ReadString('\n')
	if err != nil {
		return fmt.Errorf("%w about %s: %w", errObjects, want.oid, err)
	}
	fields := strings.Fields(line)
	if len(fields) != 3 || fields[0] != want.oid || fields[1] != "blob" {
		return fmt.Errorf("the repository has no content %s: git says %.80q: %w", want.oid, line, syscall.EINVAL)
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil || size < 0 {
		return fmt.Errorf("git says %.80q, which has no size: %w", line, syscall.EINVAL)
	}

	body := &io.LimitedReader{R: o.out, N: size}
	if err := fn(want.to, size, body); err != nil {
		return err
	}
	if _, err := o.out.Discard(int(body.N) + 1); err != nil {
		return fmt.Errorf("%w about %s: %w", errObjects, want.oid, err)
	}
	return nil
}
