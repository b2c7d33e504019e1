package dofs

import (
	"errors"
	"strings"
	"syscall"

	"vfsdb/agent/tool"
	"vfsdb/agent/tool/nodejs"
	"vfsdb/agent/tool/texts"
)

// underFile makes ENOENT of a path that goes through a file, as the methods do. For such a path only writeFile and
// mkdir report ENOTDIR.
func underFile(err error) error {
	if errors.Is(err, syscall.ENOTDIR) {
		return syscall.ENOENT
	}
	return err
}

// An errnoException is an error as Node reports it.
type errnoException struct {
	Code    string `json:"code"`
	Path    string `json:"path,omitempty"`
	Message string `json:"message"`
}

func explain(_ *tool.Toolbox, err error) string {
	var e errnoException
	e.Code, e.Path, e.Message = nodejs.Describe(err)
	e.Message = strings.ToValidUTF8(e.Message, "\uFFFD")
	text, err := texts.JSON(e)
	if err != nil {
		return err.Error()
	}
	return text
}
