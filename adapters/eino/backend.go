package einofs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"syscall"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"

	"vfsdb/vfs"
)

// maxText is the most bytes of text that one answer has: 8 MiB. More is EFBIG.
const maxText = 8 << 20

// A Backend is a tree of a store as eino's file tools want it. It is safe for concurrent use. Its errors are those of
// [vfs.FS], so errors.Is works on them.
type Backend struct{ fsys *vfs.FS }

var (
	_ filesystem.Backend          = (*Backend)(nil)
	_ filesystem.MultiModalReader = (*Backend)(nil)
)

// New returns a tree as a Backend: the head of a branch, a past moment, or what is below a directory.
func New(fsys *vfs.FS) *Backend { return &Backend{fsys} }

// fileInfo describes a file by a path.
func fileInfo(name string, info fs.FileInfo) filesystem.FileInfo {
	described := filesystem.FileInfo{Path: name, IsDir: info.IsDir(), ModifiedAt: info.ModTime().UTC().Format(time.RFC3339Nano)}
	if !info.IsDir() {
		described.Size = info.Size()
	}
	return described
}

// LsInfo describes the entries of a directory at one moment, by their names, in the order of these; of a file, itself.
func (b *Backend) LsInfo(ctx context.Context, r *filesystem.LsInfoRequest) (list []filesystem.FileInfo, err error) {
	err = b.fsys.View(ctx, func(tx *vfs.Tx) error {
		name := "/" + r.Path
		info, err := tx.Stat(name)
		if err != nil {
			return err
		}
		if !info.IsDir() {
			list = []filesystem.FileInfo{fileInfo(path.Base(name), info)}
			return nil
		}

		entries, err := tx.ReadDir(name)
		if err != nil {
			return err
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil {
				return err
			}
			list = append(list, fileInfo(e.Name(), info))
		}
		return nil
	})
	return list, err
}

// Read returns lines of a file: Limit of them from the line Offset, without the line break of the last one. Without a
// Limit it is all that follow. It reads no further than it has to.
func (b *Backend) Read(ctx context.Context, r *filesystem.ReadRequest) (*filesystem.FileContent, error) {
	f, err := b.fsys.OpenFrozen(ctx, "/"+r.FilePath)
	if err != nil {
		return nil, err
	}
	text, err := lines(f, r.Offset, r.Limit)
	if errors.Is(err, syscall.EFBIG) {
		err = fmt.Errorf("read %s: more than %d bytes; ask for fewer lines, by offset and limit: %w", r.FilePath, maxText, err)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	return &filesystem.FileContent{Content: text}, nil
}

// lines returns the lines from a first one, which is counted from 1.
func lines(r io.Reader, first, limit int) (string, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	for at := 1; at < first; {
		_, err := in.ReadSlice('\n')
		switch {
		case err == nil:
			at++
		case err == io.EOF:
			return "", nil
		case err != bufio.ErrBufferFull:
			return "", err
		}
	}

	var text strings.Builder
	for n := 0; limit <= 0 || n < limit; {
		part, err := in.ReadSlice('\n')
		text.Write(part)
		if text.Len() > maxText {
			return "", syscall.EFBIG
		}
		switch {
		case err == nil:
			n++
		case err == io.EOF:
			return text.String(), nil
		case err != bufio.ErrBufferFull:
			return "", err
		}
	}
	return strings.TrimSuffix(text.String(), "\n"), nil
}

// Write makes a text the whole content of a file. Missing directories above it are made, in the same commit.
func (b *Backend) Write(ctx context.Context, r *filesystem.WriteRequest) error {
	return b.fsys.WriteFile(ctx, "/"+r.FilePath, []byte(r.Content), 0o644, vfs.Parents())
}

// Edit replaces a text in a file: the one that it has, or with ReplaceAll every one. Another count is a [vfs.MatchError].
func (b *Backend) Edit(ctx context.Context, r *filesystem.EditRequest) error {
	_, err := b.fsys.Edit(ctx, "/"+r.FilePath, []vfs.Edit{{Old: r.OldString, New: r.NewString, All: r.ReplaceAll}})
	return err
}
