package mimetype_test

import (
	"mime"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/mimetype"
)

// Types are the same on every machine: what the tables of the host say of an extension does not count.
func TestHostTablesDoNotMatter(t *testing.T) {
	for ext, wrong := range map[string]string{".mod": "audio/x-mod", ".ts": "text/vnd.trolltech.linguist", ".vfsdbtest": "application/x-host"} {
		require.NoError(t, mime.AddExtensionType(ext, wrong)) // as a table of the host would
	}
	require.Equal(t, "text/plain", mimetype.ByName("go.mod"))
	require.Equal(t, "text/plain", mimetype.ByName("src/App.TS"))
	require.Equal(t, "", mimetype.ByName("a.vfsdbtest"))
	require.Equal(t, "text/plain", mimetype.Of("a.vfsdbtest", []byte("héllo")))
}

func TestOf(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n\x00\x00"
	for _, tt := range []struct{ name, content, want string }{
		{"a.md", "# a", "text/markdown"},
		{"Makefile", "all:", "text/plain"},
		{"empty", "", "text/plain"},
		{"a.bin", "\x00\x01", "application/octet-stream"},
		{"latin", "caf\xe9", "application/octet-stream"},
		{"a.txt", "\x00\x01", "application/octet-stream"},
		{"a.json", "{}", "application/json"},
		{"a.svg", "<svg/>", "image/svg+xml"},
		{"a.pdf", "%PDF-1.4 text", "application/pdf"},
		{"a.mp3", "ID3\x00", "audio/mpeg"},
		{"picture", png, "image/png"},
		{"a.jpg", png, "image/png"},
		{".env", "A=1", "text/plain"},
	} {
		require.Equal(t, tt.want, mimetype.Of(tt.name, []byte(tt.content)), "%s %q", tt.name, tt.content)
	}
}
