package apply

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"syscall"

	"vfsdb/internal/sparse"
	"vfsdb/node"
	"vfsdb/transfer/hostdir"
)

// tempPrefix begins the names of files that are being written.
const tempPrefix = ".vfsdb-apply-"

var errType = fmt.Errorf("a file of an unknown type is there: %w", syscall.ENOTSUP)

// look finds out what the directory has in each place.
func (a *applier) look(ctx context.Context) error {
	info, err := a.top.Self.Stat()
	if err != nil {
		return err
	}
	at := hostdir.Reopener{Top: a.top}
	defer at.Close()
	swept := make(map[string]bool)

	for _, p := range a.places {
		if err := ctx.Err(); err != nil {
			return err
		}
		if p.path == "." {
			p.see(a.top, ".", info)
			continue
		}
		above := a.at[dirOf(p.path)]
		if p.fault = above.fault; p.fault != nil || above.host == nil || !above.host.IsDir() {
			continue
		}

		in, err := at.Dir(hostPath(above.path))
		if err != nil {
			p.fault = err
			continue
		}
		if !a.dry && !swept[above.path] {
			swept[above.path] = true
			if err := sweep(in); err != nil {
				return err
			}
		}
		if err := a.lookAt(ctx, in, p); err != nil {
			return err
		}
	}
	return nil
}

// sweep removes the files that an apply was writing when it was killed. Nobody else is writing one: the directory is locked.
func sweep(in *hostdir.Dir) error {
	list, err := in.Root.Open(".")
	if err != nil {
		return nil // what is in it may be known by name all the same
	}
	defer list.Close()
	names, _ := list.Readdirnames(-1)
	for _, name := range names {
		if strings.HasPrefix(name, tempPrefix) {
			if err := in.Root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// lookAt looks at one place, in a directory that is open.
func (a *applier) lookAt(ctx context.Context, in *hostdir.Dir, p *place) error {
	base := path.Base(p.path)
	info, err := in.Root.Lstat(base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		p.fault = err
		return nil
	case hostdir.IsOwn(a.own, info):
		p.fault = hostdir.ErrOwn
		return nil
	}
	p.see(in, base, info)

	switch p.host.Kind() {
	case node.KindFile:
		return a.contentOf(ctx, in, p)
	case node.KindLink:
		p.host.Target, p.fault = in.Root.Readlink(base)
	case 0:
		p.fault = errType
	}
	return nil
}

// see notes the attributes of a file of the host.
func (p *place) see(in *hostdir.Dir, base string, info fs.FileInfo) {
	p.state = hostdir.StateOf(info)
	n := &node.Node{Mode: uint32(node.ModeKind(info.Mode()))<<12 | node.UnixPerm(info.Mode())}
	n.Uid, n.Gid = hostdir.Owner(info)
	n.Mtime, _ = hostdir.Nanos(info.ModTime())
	n.Rdev = int64(hostdir.MakeDev(hostdir.Device(info)))
	if n.Kind() == node.KindLink {
		n.Mode |= 0o777
	}
	p.host = n
	if n.CheckXattrs() != nil {
		return
	}

	names, err := in.Xattrs(base)
	if err != nil {
		return
	}
	values := make(map[string]string)
	for _, name := range names {
		if node.CheckXattr(name) != nil {
			continue
		}
		if values[name], err = in.Xattr(base, name); err != nil {
			return
		}
	}
	if len(values) > 0 {
		if n.Xattrs, err = node.NewXattrs(values); err != nil {
			return
		}
	}
	p.known = true
}

// contentOf finds out the content of a regular file. It is that of a tree if size and time are, as for an import; else it is
// read.
func (a *applier) contentOf(ctx context.Context, in *hostdir.Dir, p *place) error {
	var same *node.Node
	for _, n := range []*node.Node{p.base, p.theirs} {
		if n == nil || n.Kind() != node.KindFile || n.Content.Size != p.state.Size || n.Mtime != p.host.Mtime {
			continue
		}
		if same != nil && same.Content != n.Content {
			same = nil
			break
		}
		same = n
	}
	if same != nil {
		p.host.Content = same.Content
		return nil
	}

	f, err := in.OpenFile(path.Base(p.path))
	if err != nil {
		p.fault = err
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && hostdir.StateOf(info) != p.state {
		err = errChanged
	}
	if err != nil {
		p.fault = err
		return nil
	}
	source := sparse.NewSource(f)
	if p.read, err = a.batch.Add(ctx, source); err != nil && (source.Err == nil || ctx.Err() != nil) {
		return err // the store failed, not the file
	}
	p.fault = err
	return nil
}
