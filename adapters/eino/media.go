package einofs

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"syscall"

	"github.com/cloudwego/eino/adk/filesystem"
)

// MultiModalRead returns an image or a PDF, which it knows by the first bytes, as one part of up to 8 MiB; more is EFBIG.
// Of other files it returns what Read does. It cannot take a PDF apart, so Pages of one are ENOTSUP.
func (b *Backend) MultiModalRead(ctx context.Context, r *filesystem.MultiModalReadRequest) (*filesystem.MultiFileContent, error) {
	head, err := b.fsys.ReadRange(ctx, "/"+r.FilePath, 0, 512)
	if err != nil {
		return nil, err
	}
	mime := http.DetectContentType(head)
	kind := filesystem.FileContentPartTypeImage
	switch {
	case mime == "application/pdf":
		kind = filesystem.FileContentPartTypePDF
		if r.Pages != "" {
			return nil, fmt.Errorf("read %s: a PDF is read as a whole, without pages: %w", r.FilePath, syscall.ENOTSUP)
		}
	case !strings.HasPrefix(mime, "image/"):
		text, err := b.Read(ctx, &r.ReadRequest)
		return &filesystem.MultiFileContent{FileContent: text}, err
	}

	data, err := b.fsys.ReadRange(ctx, "/"+r.FilePath, 0, maxText+1)
	if err != nil {
		return nil, err
	}
	if len(data) > maxText {
		return nil, fmt.Errorf("read %s: more than %d bytes: %w", r.FilePath, maxText, syscall.EFBIG)
	}
	return &filesystem.MultiFileContent{Parts: []filesystem.FileContentPart{{Type: kind, MIMEType: mime, Data: data}}}, nil
}
