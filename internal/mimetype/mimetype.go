package mimetype

import (
	"net/http"
	"path"
	"strings"
	"unicode/utf8"

	"vfsdb/vfs"
)

// The types of what no name tells.
const (
	Text   = "text/plain"
	Binary = "application/octet-stream"
)

// ByName returns the type that the end of a file's name stands for, without parameters; "" if the table has none.
func ByName(name string) string { return byExtension[strings.ToLower(path.Ext(name))] }

// Of returns the type of a file with some content, or with its beginning. An image that models are shown is known by its
// content, because they refuse one under another's type. Else the name tells; if it does not, or says text of what is
// none, valid UTF-8 is plain text and the rest are bytes.
func Of(name string, content []byte) string {
	if found := http.DetectContentType(content); IsImage(found) {
		return found
	}
	text := !vfs.LooksBinary(content) && utf8.Valid(content)
	named := ByName(name)
	switch {
	case named != "" && (text || !isText(named)):
		return named
	case text:
		return Text
	}
	return Binary
}

// IsImage reports whether a type is one that models can look at.
func IsImage(kind string) bool {
	switch kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}

// isText reports whether a type is of files without a NUL.
func isText(kind string) bool {
	switch kind {
	case "application/json", "application/yaml", "application/toml", "application/xml", "application/sql", "image/svg+xml":
		return true
	}
	return strings.HasPrefix(kind, "text/")
}
