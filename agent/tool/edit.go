package tool

import (
	"strings"
	"syscall"

	"vfsdb/agent/tool/texts"
	"vfsdb/vfs"
)

// Replace puts text in place of some spans. New text of more than vfs.MaxEditSize bytes in all is EFBIG.
func Replace(text string, spots []texts.Span, with string) (string, error) {
	if len(with) > 0 && len(spots) > vfs.MaxEditSize/len(with) {
		return "", Refuse(syscall.EFBIG, "the file would be larger than %d bytes", vfs.MaxEditSize)
	}
	var b strings.Builder
	from := 0
	for _, s := range spots {
		b.WriteString(text[from:s.Start])
		b.WriteString(texts.LikeBreaks(with, text[s.Start:s.End], text))
		from = s.End
	}
	b.WriteString(text[from:])
	return b.String(), nil
}
