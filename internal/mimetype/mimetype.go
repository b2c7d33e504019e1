package mimetype

import (
	"net/http"
	"path"
	"strings"
	"unicode/utf8"

	"vfsdb/vfs"
)

// The types of files whose name has none.
const (
	Text   = "text/plain"
	Binary = "application/octet-stream"
)

// ByName returns the type for the end of a file's name, without parameters, or "" if the table has none.
func ByName(name string) string { return byExtension[strings.ToLower(path.Ext(name))] }

// Of returns the type of a file with the given content, or with the beginning of it. An image for models is recognised
// by its content, because models refuse an image of another type than its own. For other files the name decides. If the
// name has no type, or one of text for content that is not text, valid UTF-8 is plain text and all else is binary.
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

// IsImage reports whether models accept images of a type.
func IsImage(kind string) bool {
	switch kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}

// isText reports whether files of a type are text, without a NUL.
func isText(kind string) bool {
	switch kind {
	case "application/json", "application/yaml", "application/toml", "application/xml", "application/sql", "image/svg+xml":
		return true
	}
	return strings.HasPrefix(kind, "text/")
}
