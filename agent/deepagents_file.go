package agent

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"unicode/utf8"

	"vfsdb/vfs"
)

type deepWriteIn struct {
	Path    string `json:"file_path" jsonschema:"absolute path of the file"`
	Content string `json:"content" jsonschema:"the whole text"`
}

func (in deepWriteIn) about() string { return in.Path }

func deepWrite(g *guard, in deepWriteIn) (said, error) {
	w, err := g.write(in.Path, []byte(in.Content), true, precondition{})
	if err != nil {
		return "", err
	}
	return said("Updated file " + rooted(w.path)), nil
}

type deepEditIn struct {
	Path       string `json:"file_path" jsonschema:"absolute path of the file"`
	Old        string `json:"old_string" jsonschema:"the exact text to replace"`
	New        string `json:"new_string" jsonschema:"the text to put in its place"`
	ReplaceAll bool   `json:"replace_all,omitempty" default:"false" jsonschema:"replace every occurrence, instead of the only one"`
}

func (in deepEditIn) about() string { return in.Path }

func deepEdit(g *guard, in deepEditIn) (said, error) {
	if in.Old == "" {
		return "", refuse(syscall.EINVAL, "old_string is empty. To fill an empty file, use write_file")
	}
	w, err := g.rewrite(in.Path, precondition{}, func(text string) (string, int, error) {
		spots := occurrences(text, in.Old)
		if len(spots) == 0 || len(spots) > 1 && !in.ReplaceAll {
			return "", 0, deepUnedited(g.box.shown(in.Path), text, in.Old, len(spots))
		}
		text, err := replaced(text, spots, in.New)
		return text, len(spots), err
	})
	if err != nil {
		return "", absent(g, "File", in.Path, err)
	}
	return said(fmt.Sprintf("Successfully replaced %d instance(s) of the string in '%s'", w.n, rooted(w.path))), nil
}

// deepUnedited says why text cannot be replaced: it is not there, or there too often. What models get wrong most is a
// line break behind the last line of a file that has none.
func deepUnedited(path, text, old string, found int) error {
	bare, ended := strings.CutSuffix(unixBreaks(old), "\n")
	if found > 0 || !ended || bare == "" || !strings.HasSuffix(unixBreaks(text), bare) {
		return &EditError{Path: path, Of: 1, Old: old, Found: found, Lines: linesOf(text, old, 10), Err: &vfs.MatchError{Found: found}}
	}
	const why = "old_string ends with a newline, but the file does not end with a newline. "
	if n := strings.Count(unixBreaks(text), bare); n > 1 {
		return refuse(syscall.EINVAL, why+"Without it, old_string would appear %d times in the file: remove it, and add surrounding context", n)
	}
	return refuse(syscall.EINVAL, why+"Remove it from old_string, and from new_string if that ends with one too")
}

type deepDeleteIn struct {
	Path string `json:"file_path" jsonschema:"absolute path of the file or directory"`
}

func (in deepDeleteIn) about() string { return in.Path }

func deepDelete(g *guard, in deepDeleteIn) (said, error) {
	at, _, err := g.remove(in.Path, true, false, precondition{})
	if err != nil {
		return "", absent(g, "File", in.Path, err)
	}
	return said("Deleted " + rooted(at)), nil
}

// deepCodes are the errors of one file among several, by their errno.
var deepCodes = map[syscall.Errno]string{
	syscall.ENOENT: "file_not_found",
	syscall.EACCES: "permission_denied", syscall.EPERM: "permission_denied", syscall.EROFS: "permission_denied",
	syscall.EISDIR: "is_directory",
	syscall.EINVAL: "invalid_path", syscall.ENOTDIR: "invalid_path", syscall.ENAMETOOLONG: "invalid_path", syscall.ELOOP: "invalid_path",
}

// deepCode is the code of an error, or its reason where there is none for it. An error that is not about the one file
// is returned.
func deepCode(err error) (string, error) {
	var size *SizeError
	errno, known := vfs.Errno(err)
	switch {
	case err == nil:
		return "", nil
	case stops(err), !known:
		return "", err
	case errors.As(err, &size):
		return reason(err), nil
	case deepCodes[errno] == "":
		return "", err
	}
	return deepCodes[errno], nil
}

type deepFile struct {
	Path     string `json:"path" jsonschema:"absolute path"`
	Content  string `json:"content"`
	Encoding string `json:"encoding,omitempty" default:"\"utf-8\"" enum:"utf-8,base64" jsonschema:"how content stands for the bytes"`
}

type deepUploadIn struct {
	Files []deepFile `json:"files" jsonschema:"the files to write"`
}

type deepUploaded struct {
	Path  string `json:"path"`
	Error string `json:"error,omitempty" jsonschema:"why this file was not written"`
}

type deepUploadOut struct {
	Files []deepUploaded `json:"files" jsonschema:"one for each file, in their order"`
}

// deepUploadAll writes files into the trees that serve them, in one commit for each tree.
func deepUploadAll(ctx context.Context, b *Toolbox, in deepUploadIn) (*Result, error) {
	paths := make([]string, len(in.Files))
	for i, f := range in.Files {
		paths[i] = f.Path
	}
	files, err := divided(b, paths, func(box *Toolbox, which []int) (list []deepUploaded, err error) {
		var part deepUploadIn
		for _, i := range which {
			part.Files = append(part.Files, in.Files[i])
		}
		_, err = box.within(ctx, box.updating("upload_files"), func(g *guard) (any, error) {
			out, err := deepUpload(g, part)
			list = out.Files
			return out, err
		})
		return list, err
	})
	if err != nil {
		return nil, err
	}
	return present(deepUploadOut{files})
}

// deepUpload writes the files that can be written, in one commit.
func deepUpload(g *guard, in deepUploadIn) (deepUploadOut, error) {
	o := deepUploadOut{Files: []deepUploaded{}}
	for _, f := range in.Files {
		if err := g.ctx.Err(); err != nil {
			return o, err
		}
		data := []byte(f.Content)
		if f.Encoding == "base64" {
			var err error
			if data, err = base64.StdEncoding.DecodeString(f.Content); err != nil {
				return o, &ArgumentError{"upload_files", fmt.Sprintf("content of '%s' is no base64", f.Path)}
			}
		}
		code, err := deepCode(deepPut(g, f.Path, data))
		if err != nil {
			return o, err
		}
		o.Files = append(o.Files, deepUploaded{f.Path, code})
	}
	return o, nil
}

func deepPut(g *guard, name string, data []byte) error {
	if err := g.writable(strings.TrimPrefix(g.box.shown(name), "/"), int64(len(data))); err != nil {
		return err // before its directories are made
	}
	_, err := g.write(name, data, true, precondition{})
	return err
}

type deepDownloadIn struct {
	Paths []string `json:"paths" jsonschema:"absolute paths of the files to read"`
}

type deepDownloaded struct {
	Path     string  `json:"path"`
	Content  *string `json:"content,omitempty"`
	Encoding string  `json:"encoding,omitempty" enum:"utf-8,base64"`
	Error    string  `json:"error,omitempty" jsonschema:"why this file was not read"`
}

type deepDownloadOut struct {
	Files []deepDownloaded `json:"files" jsonschema:"one for each path, in their order"`
}

// deepDownloadAll reads files from the trees that serve them, at one moment of each tree.
func deepDownloadAll(ctx context.Context, b *Toolbox, in deepDownloadIn) (*Result, error) {
	files, err := divided(b, in.Paths, func(box *Toolbox, which []int) (list []deepDownloaded, err error) {
		var part deepDownloadIn
		for _, i := range which {
			part.Paths = append(part.Paths, in.Paths[i])
		}
		_, err = box.within(ctx, box.viewing(), func(g *guard) (any, error) {
			out, err := deepDownload(g, part)
			list = out.Files
			return out, err
		})
		return list, err
	})
	if err != nil {
		return nil, err
	}
	return present(deepDownloadOut{files})
}

// deepDownload reads files at one moment, whole or not at all: as many as fit the cap of bytes together.
func deepDownload(g *guard, in deepDownloadIn) (deepDownloadOut, error) {
	o := deepDownloadOut{Files: []deepDownloaded{}}
	room := g.box.caps.ResultBytes
	for _, name := range in.Paths {
		if err := g.ctx.Err(); err != nil {
			return o, err
		}
		content, encoding, err := deepGet(g, name, room)
		code, err := deepCode(err)
		if err != nil {
			return o, err
		}
		one := deepDownloaded{Path: name, Error: code}
		if code == "" {
			one.Content, one.Encoding = &content, encoding
			room -= len(content)
		}
		o.Files = append(o.Files, one)
	}
	return o, nil
}

func deepGet(g *guard, name string, room int) (content, encoding string, err error) {
	n, err := g.open(name)
	if err != nil {
		return "", "", err
	}
	if n.info.Size() > int64(room) {
		return "", "", &SizeError{rooted(n.path), n.info.Size(), int64(max(0, room))}
	}
	data, err := g.tx.ReadFile(n.path)
	if err != nil || utf8.Valid(data) && !vfs.LooksBinary(data) {
		return string(data), "utf-8", err
	}
	if long := base64.StdEncoding.EncodedLen(len(data)); long > room {
		return "", "", &SizeError{rooted(n.path), int64(long), int64(room)}
	}
	return base64.StdEncoding.EncodeToString(data), "base64", nil
}
