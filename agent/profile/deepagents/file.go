package deepagents

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"unicode/utf8"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/agent/tool/texts"
	"vfsdb/vfs"
)

type writeIn struct {
	Path    string `json:"file_path" jsonschema:"absolute path of the file"`
	Content string `json:"content" jsonschema:"the whole text"`
}

func (in writeIn) About() string { return in.Path }

func write(g *tool.Guard, in writeIn) (tool.Text, error) {
	w, err := g.Write(in.Path, []byte(in.Content), true, tool.Precondition{})
	if err != nil {
		return "", err
	}
	return tool.Text("Updated file " + w.Path()), nil
}

type editIn struct {
	Path       string `json:"file_path" jsonschema:"absolute path of the file"`
	Old        string `json:"old_string" jsonschema:"the exact text to replace"`
	New        string `json:"new_string" jsonschema:"the text to put in its place"`
	ReplaceAll bool   `json:"replace_all,omitempty" default:"false" jsonschema:"replace every occurrence, instead of the only one"`
}

func (in editIn) About() string { return in.Path }

func edit(g *tool.Guard, in editIn) (tool.Text, error) {
	if in.Old == "" {
		return "", tool.Refuse(syscall.EINVAL, "old_string is empty. To fill an empty file, use write_file")
	}
	w, err := g.Rewrite(in.Path, tool.Precondition{}, func(text string) (string, int, error) {
		spots := texts.Occurrences(text, in.Old)
		if len(spots) == 0 || len(spots) > 1 && !in.ReplaceAll {
			return "", 0, unedited(g.Shown(in.Path), text, in.Old, len(spots))
		}
		text, err := tool.Replace(text, spots, in.New)
		return text, len(spots), err
	})
	if err != nil {
		return "", absent(g, "File", in.Path, err)
	}
	return tool.Text(fmt.Sprintf("Successfully replaced %d instance(s) of the string in '%s'", w.N, w.Path())), nil
}

// unedited returns the error of a text that cannot be replaced, because it does not occur, or occurs too often. The
// most frequent mistake of models is a line break behind the last line of a file that has none.
func unedited(path, text, old string, found int) error {
	bare, ended := strings.CutSuffix(texts.UnixBreaks(old), "\n")
	if found > 0 || !ended || bare == "" || !strings.HasSuffix(texts.UnixBreaks(text), bare) {
		return &tool.EditError{Path: path, Of: 1, Old: old, Found: found, Lines: texts.LinesOf(text, old, 10), Err: &vfs.MatchError{Found: found}}
	}
	const why = "old_string ends with a newline, but the file does not end with a newline. "
	if n := strings.Count(texts.UnixBreaks(text), bare); n > 1 {
		return tool.Refuse(syscall.EINVAL, why+"Without it, old_string would appear %d times in the file: remove it, and add surrounding context", n)
	}
	return tool.Refuse(syscall.EINVAL, why+"Remove it from old_string, and from new_string if that ends with one too")
}

type deleteIn struct {
	Path string `json:"file_path" jsonschema:"absolute path of the file or directory"`
}

func (in deleteIn) About() string { return in.Path }

func delete(g *tool.Guard, in deleteIn) (tool.Text, error) {
	at, _, err := g.Remove(in.Path, true, false, tool.Precondition{})
	if err != nil {
		return "", absent(g, "File", in.Path, err)
	}
	return tool.Text("Deleted " + at), nil
}

// codes are the errors of one file among several, by their errno.
var codes = map[syscall.Errno]string{
	syscall.ENOENT: "file_not_found",
	syscall.EACCES: "permission_denied", syscall.EPERM: "permission_denied", syscall.EROFS: "permission_denied",
	syscall.EISDIR: "is_directory",
	syscall.EINVAL: "invalid_path", syscall.ENOTDIR: "invalid_path", syscall.ENAMETOOLONG: "invalid_path", syscall.ELOOP: "invalid_path",
}

// code is the code of an error, or its reason where there is none for it. An error that is not about the one file
// is returned.
func code(err error) (string, error) {
	var size *policy.SizeError
	errno, known := vfs.Errno(err)
	switch {
	case err == nil:
		return "", nil
	case tool.Stops(err), !known:
		return "", err
	case errors.As(err, &size):
		return tool.Reason(err), nil
	case codes[errno] == "":
		return "", err
	}
	return codes[errno], nil
}

type file struct {
	Path     string `json:"path" jsonschema:"absolute path"`
	Content  string `json:"content"`
	Encoding string `json:"encoding,omitempty" default:"\"utf-8\"" enum:"utf-8,base64" jsonschema:"how content stands for the bytes"`
}

type uploadIn struct {
	Files []file `json:"files" jsonschema:"the files to write"`
}

type uploadItem struct {
	Path  string `json:"path"`
	Error string `json:"error,omitempty" jsonschema:"why this file was not written"`
}

type uploadOut struct {
	Files []uploadItem `json:"files" jsonschema:"one for each file, in their order"`
}

func uploadPaths(in uploadIn) []string {
	paths := make([]string, len(in.Files))
	for i, f := range in.Files {
		paths[i] = f.Path
	}
	return paths
}

// upload writes the files that can be written, in one commit.
func upload(g *tool.Guard, in uploadIn, which []int) ([]uploadItem, error) {
	var list []uploadItem
	for _, i := range which {
		f := in.Files[i]
		if err := g.Context().Err(); err != nil {
			return list, err
		}
		data := []byte(f.Content)
		if f.Encoding == "base64" {
			var err error
			if data, err = base64.StdEncoding.DecodeString(f.Content); err != nil {
				return list, &tool.ArgumentError{Tool: "upload_files", Why: fmt.Sprintf("content of '%s' is no base64", f.Path)}
			}
		}
		code, err := code(put(g, f.Path, data))
		if err != nil {
			return list, err
		}
		list = append(list, uploadItem{f.Path, code})
	}

	return list, nil
}

func put(g *tool.Guard, name string, data []byte) error {
	if err := g.Fits(name, int64(len(data))); err != nil {
		return err // before its directories are made
	}
	_, err := g.Write(name, data, true, tool.Precondition{})
	return err
}

type downloadIn struct {
	Paths []string `json:"paths" jsonschema:"absolute paths of the files to read"`
}

type downloadItem struct {
	Path     string  `json:"path"`
	Content  *string `json:"content,omitempty"`
	Encoding string  `json:"encoding,omitempty" enum:"utf-8,base64"`
	Error    string  `json:"error,omitempty" jsonschema:"why this file was not read"`
}

type downloadOut struct {
	Files []downloadItem `json:"files" jsonschema:"one for each path, in their order"`
}

func downloadPaths(in downloadIn) []string { return in.Paths }

// download reads files at one moment, whole or not at all: as many as fit the cap of bytes together.
func download(g *tool.Guard, in downloadIn, which []int) ([]downloadItem, error) {
	var list []downloadItem
	room := g.Caps().ResultBytes
	for _, i := range which {
		name := in.Paths[i]
		if err := g.Context().Err(); err != nil {
			return list, err
		}
		content, encoding, err := get(g, name, room)
		code, err := code(err)
		if err != nil {
			return list, err
		}
		one := downloadItem{Path: name, Error: code}
		if code == "" {
			one.Content, one.Encoding = &content, encoding
			room -= len(content)
		}
		list = append(list, one)
	}

	return list, nil
}

func get(g *tool.Guard, name string, room int) (content, encoding string, err error) {
	n, err := g.Open(name)
	if err != nil {
		return "", "", err
	}
	if n.Info().Size() > int64(room) {
		return "", "", &policy.SizeError{Path: n.Path(), Size: n.Info().Size(), Max: int64(max(0, room))}
	}
	data, err := g.Content(n)
	if err != nil || utf8.Valid(data) && !vfs.LooksBinary(data) {
		return string(data), "utf-8", err
	}
	if long := base64.StdEncoding.EncodedLen(len(data)); long > room {
		return "", "", &policy.SizeError{Path: n.Path(), Size: int64(long), Max: int64(room)}
	}
	return base64.StdEncoding.EncodeToString(data), "base64", nil
}
