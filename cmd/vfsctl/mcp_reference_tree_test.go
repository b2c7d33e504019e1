package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// grow makes the tree that the calls are about. Only work and more are allowed.
func grow(t *testing.T, dir string) {
	t.Helper()
	var many, dense strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&many, "line %d é\n", i+1)
	}
	for i := range 40000 {
		fmt.Fprintf(&dense, "%d bytes of many\n", i)
	}
	files := map[string]string{
		"work/a.txt": "one\ntwo\nthree\n", "work/crlf.txt": "a\r\nb\r\nc\r\n", "work/mixed.txt": "a\r\nb\nc\r\n", "work/cr.txt": "a\rb\rc",
		"work/empty": "", "work/nonl": "no newline", "work/blank": "\n\n\n", "work/bom.txt": "\ufeffone\ntwo\n",
		"work/uni.txt": "héllo\n日本語\n😀 emoji\n", "work/wide.txt": strings.Repeat("é", 3000) + "\n" + strings.Repeat("😀", 900) + "\nend",
		"work/lines.txt": many.String(), "work/big.txt": dense.String(),
		"work/latin.txt": "caf\xe9 \xff\xfe\n", "work/bin": "\x00\x01\xff\xfe", "work/late.txt": strings.Repeat("a", 9000) + "\n\x00b\n",
		"work/media/dot.png": "\x89PNG\r\n\x1a\n\x00", "work/media/p.JPG": "\xff\xd8\xff", "work/media/g.gif": "GIF89a", "work/media/w.webp": "RIFF", "work/media/b.bmp": "BM",
		"work/media/v.svg": "<svg/>\n", "work/media/s.mp3": "ID3", "work/media/w.wav": "RIFF", "work/media/o.ogg": "OggS", "work/media/f.flac": "fLaC",
		"work/media/doc.pdf": "%PDF-1.7\n", "work/media/noext": "\x00\x01", "work/media/t.txt": "text\n", "work/media/empty.png": "",
		"work/src/main.go": "package main\n", "work/src/util/str.go": "package util\n", "work/src/util/str_test.go": "package util\n", "work/src/util/deep/x.go": "package deep\n",
		"work/src/.hidden/h.go": "package h\n", "work/src/.env": "KEY=1\n", "work/src/node_modules/m/index.js": "x\n", "work/src/readme.md": "# r\n", "work/src/build/out.o": "o\n",
		"work/src/a b.txt": "x\n", "work/src/{c}.txt": "x\n", "work/src/[d].txt": "x\n", "work/src/util/README.md": "r\n",
		"work/sizes/none": "", "work/sizes/one": "x", "work/sizes/under": strings.Repeat("x", 1023), "work/sizes/kilo": strings.Repeat("x", 1024),
		"work/sizes/half": strings.Repeat("x", 1536), "work/sizes/mega": strings.Repeat("x", 1<<20), "work/sizes/odd": strings.Repeat("x", 1234567),
		"work/sizes/a-name-that-is-longer-than-thirty-characters": "xx", "work/sizes/sub/in": "x",
		"work/order/b": "1", "work/order/a": "1", "work/order/c1": "1", "work/order/c2": "22",
		"work/case/B": "1", "work/case/a": "1", "work/case/_u": "1", "work/case/é": "1", "work/case/f": "1", "work/case/10": "1", "work/case/9": "1",
		"work/edit/plain.txt": "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\ntwelve\nthirteen\nfourteen\nfifteen\n",
		"work/edit/go.go":     "func f() {\n\tif x {\n\t\ty()\n\t}\n}\n", "work/edit/nonl": "a\nb", "work/edit/dup": "x\nx\nx\n", "work/edit/fence.md": "```go\nx\n```\n",
		"work/edit/uni": "naïve\ncafé\n", "work/edit/empty": "", "work/edit/dollar": "price: 1\n", "work/apart/spaces": "  a  \n  b\n",
		"work/apart/crlf": "a\r\nb\r\nc\r\n", "work/apart/mixed": "a\r\nb\nc\r\n", "work/apart/tabs": "func f() {\n\tif x {\n\t\ty()\n\t}\n}\n", "work/apart/bin": "\x00a\n", "work/apart/latin": "caf\xe9\n", "work/apart/fence": "a\n",
		"work/move/f": "f\n", "work/move/g": "g\n", "work/move/d/in": "in\n", "work/move/e/x": "x\n", "work/mode": "m\n",
		"work/deep/1/2/3/4/5/6/f.txt": "f\n", "more/m.txt": "m\n", "else/secret.txt": "secret\n", "workbench/w.txt": "w\n",
	}
	for name, content := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(content), 0o644))
		require.NoError(t, os.Chtimes(file, time.Time{}, time.Date(2024, 2, 3, 4, 5, 6, 0, time.UTC)))
	}
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "work/void"), 0o755))
	require.NoError(t, os.Chmod(filepath.Join(dir, "work/mode"), 0o750))
	for name, target := range map[string]string{
		"work/links/file": "../a.txt", "work/links/dir": "../src/util", "work/links/dangling": "nowhere", "work/apart/dangling": "nowhere", "work/apart/link": "bin", "work/apart/astray": "far", "work/links/out": "../../else", "work/links/outfile": "../../else/secret.txt",
		"work/links/loop": "loop", "work/links/more": "../../more", "work/links/up": "..",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.Symlink(target, file))
	}
}
