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

// A referenceCall is a call that both servers get. In its arguments % stands for the directory of the tree. The answers
// are the same unless differs says why they are not; then ours holds the text of ours.
type referenceCall struct {
	name, tool, args string
	differs, ours    string
	normal           []func(string) string // what to do to both answers before they are compared
}

type normals = []func(string) string

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

var referenceCalls = []referenceCall{
	{name: "there are two", tool: "list_allowed_directories", args: `{}`},
	{
		name: "unknown argument", tool: "list_allowed_directories", args: `{"x":1}`,
		differs: "an argument that a tool does not have is refused, so that its sender learns of it", ours: `failed: EINVAL: arguments of list_allowed_directories`,
	},

	// read_text_file, and read_file, which is the same under its old name.
	{name: "whole", tool: "read_text_file", args: `{"path":"%/work/a.txt"}`},
	{name: "whole", tool: "read_file", args: `{"path":"%/work/a.txt"}`},
	{name: "head", tool: "read_file", args: `{"path":"%/work/a.txt","head":2}`},
	{name: "missing", tool: "read_file", args: `{"path":"%/work/none"}`},
	{name: "CRLF", tool: "read_text_file", args: `{"path":"%/work/crlf.txt"}`},
	{name: "mixed line ends", tool: "read_text_file", args: `{"path":"%/work/mixed.txt"}`},
	{name: "CR alone", tool: "read_text_file", args: `{"path":"%/work/cr.txt"}`},
	{name: "empty", tool: "read_text_file", args: `{"path":"%/work/empty"}`},
	{name: "no line end", tool: "read_text_file", args: `{"path":"%/work/nonl"}`},
	{name: "blank lines", tool: "read_text_file", args: `{"path":"%/work/blank"}`},
	{name: "byte order mark", tool: "read_text_file", args: `{"path":"%/work/bom.txt"}`},
	{name: "beyond ASCII", tool: "read_text_file", args: `{"path":"%/work/uni.txt"}`},
	{name: "long lines", tool: "read_text_file", args: `{"path":"%/work/wide.txt"}`},
	{name: "above 256 KiB", tool: "read_text_file", args: `{"path":"%/work/big.txt"}`},
	{name: "not UTF-8", tool: "read_text_file", args: `{"path":"%/work/latin.txt"}`},
	{
		name: "binary", tool: "read_text_file", args: `{"path":"%/work/bin"}`,
		differs: "what is no text is refused: it could not be written back", ours: `failed: '/work/bin' is no text`,
	},
	{name: "binary later", tool: "read_text_file", args: `{"path":"%/work/late.txt"}`},
	{name: "head 1", tool: "read_text_file", args: `{"path":"%/work/a.txt","head":1}`},
	{name: "head of all", tool: "read_text_file", args: `{"path":"%/work/a.txt","head":3}`},
	{name: "head beyond", tool: "read_text_file", args: `{"path":"%/work/a.txt","head":100}`},
	{name: "head of no line end", tool: "read_text_file", args: `{"path":"%/work/nonl","head":5}`},
	{name: "head of empty", tool: "read_text_file", args: `{"path":"%/work/empty","head":5}`},
	{name: "head of blank", tool: "read_text_file", args: `{"path":"%/work/blank","head":2}`},
	{name: "head of CRLF", tool: "read_text_file", args: `{"path":"%/work/crlf.txt","head":2}`},
	{name: "head of many", tool: "read_text_file", args: `{"path":"%/work/lines.txt","head":1234}`},
	{name: "head of wide", tool: "read_text_file", args: `{"path":"%/work/wide.txt","head":2}`},
	{name: "head 0", tool: "read_text_file", args: `{"path":"%/work/a.txt","head":0}`},
	{
		name: "tail 1", tool: "read_text_file", args: `{"path":"%/work/a.txt","tail":1}`,
		differs: "the reference counts an empty line behind the last line break", ours: `passed: three`,
	},
	{
		name: "tail 2", tool: "read_text_file", args: `{"path":"%/work/a.txt","tail":2}`,
		differs: "the reference counts an empty line behind the last line break", ours: "passed: two\nthree",
	},
	{
		name: "tail beyond", tool: "read_text_file", args: `{"path":"%/work/a.txt","tail":100}`,
		differs: "the last line ends without its line break, as in every other tail", ours: "passed: one\ntwo\nthree",
	},
	{name: "tail of no line end", tool: "read_text_file", args: `{"path":"%/work/nonl","tail":5}`},
	{name: "tail of empty", tool: "read_text_file", args: `{"path":"%/work/empty","tail":5}`},
	{name: "tail of blank", tool: "read_text_file", args: `{"path":"%/work/blank","tail":2}`},
	{
		name: "tail of CRLF", tool: "read_text_file", args: `{"path":"%/work/crlf.txt","tail":3}`,
		differs: "the reference folds line breaks in a tail, and nowhere else where it reads", ours: "passed: a\r\nb\r\nc\r",
	},
	{
		name: "tail of many", tool: "read_text_file", args: `{"path":"%/work/lines.txt","tail":1234}`,
		differs: "the reference counts an empty line behind the last line break", ours: `passed: line 1767 é`,
	},
	{name: "tail of wide", tool: "read_text_file", args: `{"path":"%/work/wide.txt","tail":2}`},
	{name: "tail 0", tool: "read_text_file", args: `{"path":"%/work/a.txt","tail":0}`},
	{name: "head and tail", tool: "read_text_file", args: `{"path":"%/work/a.txt","head":1,"tail":1}`},
	{name: "missing", tool: "read_text_file", args: `{"path":"%/work/none"}`},
	{name: "below what is missing", tool: "read_text_file", args: `{"path":"%/work/none/deeper"}`},
	{name: "below a file", tool: "read_text_file", args: `{"path":"%/work/a.txt/x"}`, normal: normals{anyCall}},
	{name: "directory", tool: "read_text_file", args: `{"path":"%/work/src"}`, normal: normals{anyCall}},
	{name: "head of a directory", tool: "read_text_file", args: `{"path":"%/work/src","head":1}`, normal: normals{anyCall}},
	{name: "outside", tool: "read_text_file", args: `{"path":"%/else/secret.txt"}`},
	{name: "outside, a name that begins alike", tool: "read_text_file", args: `{"path":"%/workbench/w.txt"}`},
	{name: "climbing out", tool: "read_text_file", args: `{"path":"%/work/../else/secret.txt"}`},
	{name: "climbing within", tool: "read_text_file", args: `{"path":"%/work/src/../a.txt"}`},
	{name: "doubled slashes", tool: "read_text_file", args: `{"path":"%/work//a.txt"}`},
	{name: "through a symlink", tool: "read_text_file", args: `{"path":"%/work/links/file"}`},
	{name: "through a symlink to a directory", tool: "read_text_file", args: `{"path":"%/work/links/dir/str.go"}`},
	{name: "through a symlink to another allowed directory", tool: "read_text_file", args: `{"path":"%/work/links/more/m.txt"}`},
	{name: "through a symlink that leaves", tool: "read_text_file", args: `{"path":"%/work/links/out/secret.txt"}`},
	{name: "a symlink that leaves", tool: "read_text_file", args: `{"path":"%/work/links/outfile"}`},
	{
		name: "a dangling symlink", tool: "read_text_file", args: `{"path":"%/work/links/dangling"}`,
		differs: "the directory is there; what the symlink leads to is not", ours: `failed: ENOENT: no such file or directory, open '/work/links/dangling'`,
	},
	{name: "a loop", tool: "read_text_file", args: `{"path":"%/work/links/loop"}`, normal: normals{anyCall}},
	{name: "relative", tool: "read_text_file", args: `{"path":"a.txt"}`},
	{name: "relative, in the second directory", tool: "read_text_file", args: `{"path":"../more/m.txt"}`},
	{name: "relative, climbing out", tool: "read_text_file", args: `{"path":"../else/secret.txt"}`},
	{
		name: "home", tool: "read_text_file", args: `{"path":"~/x"}`,
		differs: "a store has no home directory", ours: `failed: Access denied - there is no home directory here: ~/x`,
	},
	{name: "Windows", tool: "read_text_file", args: `{"path":"C:\\x"}`},
	{
		name: "empty path", tool: "read_text_file", args: `{"path":""}`,
		differs: "an empty path is no path, and not the first directory", ours: `failed: the path is empty`,
	},
	{name: "no path", tool: "read_text_file", args: `{}`, normal: normals{refusedArguments}},
	{name: "a path that is no text", tool: "read_text_file", args: `{"path":7}`, normal: normals{refusedArguments}},
	{name: "head that is no number", tool: "read_text_file", args: `{"path":"%/work/a.txt","head":"1"}`, normal: normals{refusedArguments}},
	{
		name: "NUL in a path", tool: "read_text_file", args: `{"path":"%/work/a\u0000b"}`,
		differs: "a NUL is no question of what is allowed", ours: `failed: EINVAL: invalid argument`,
	},
	{
		name: "decomposed letters", tool: "read_text_file", args: `{"path":"%/work/case/e\u0301"}`,
		differs: "names are bytes: a letter written in another way is another name", ours: `failed: ENOENT`,
	},

	{name: "PNG", tool: "read_media_file", args: `{"path":"%/work/media/dot.png"}`, normal: normals{undescribed}},
	{name: "JPEG by a suffix in capitals", tool: "read_media_file", args: `{"path":"%/work/media/p.JPG"}`, normal: normals{undescribed}},
	{name: "GIF", tool: "read_media_file", args: `{"path":"%/work/media/g.gif"}`, normal: normals{undescribed}},
	{name: "WebP", tool: "read_media_file", args: `{"path":"%/work/media/w.webp"}`, normal: normals{undescribed}},
	{name: "BMP", tool: "read_media_file", args: `{"path":"%/work/media/b.bmp"}`, normal: normals{undescribed}},
	{name: "SVG", tool: "read_media_file", args: `{"path":"%/work/media/v.svg"}`, normal: normals{undescribed}},
	{name: "MP3", tool: "read_media_file", args: `{"path":"%/work/media/s.mp3"}`, normal: normals{undescribed}},
	{name: "WAV", tool: "read_media_file", args: `{"path":"%/work/media/w.wav"}`, normal: normals{undescribed}},
	{name: "Ogg", tool: "read_media_file", args: `{"path":"%/work/media/o.ogg"}`, normal: normals{undescribed}},
	{name: "FLAC", tool: "read_media_file", args: `{"path":"%/work/media/f.flac"}`, normal: normals{undescribed}},
	{name: "PDF", tool: "read_media_file", args: `{"path":"%/work/media/doc.pdf"}`, normal: normals{undescribed}},
	{name: "no suffix", tool: "read_media_file", args: `{"path":"%/work/media/noext"}`, normal: normals{undescribed}},
	{name: "text", tool: "read_media_file", args: `{"path":"%/work/media/t.txt"}`, normal: normals{undescribed}},
	{name: "empty", tool: "read_media_file", args: `{"path":"%/work/media/empty.png"}`, normal: normals{undescribed}},
	{name: "missing", tool: "read_media_file", args: `{"path":"%/work/media/none.png"}`},
	{name: "directory", tool: "read_media_file", args: `{"path":"%/work/media"}`, normal: normals{anyCall}},
	{name: "outside", tool: "read_media_file", args: `{"path":"%/else/secret.txt"}`},

	{name: "two", tool: "read_multiple_files", args: `{"paths":["%/work/a.txt","%/work/nonl"]}`},
	{name: "one", tool: "read_multiple_files", args: `{"paths":["%/work/a.txt"]}`},
	{name: "some fail", tool: "read_multiple_files", args: `{"paths":["%/work/a.txt","%/work/none","%/else/secret.txt","%/work/src","%/work/empty","%/work/links/out/secret.txt"]}`, normal: normals{anyCall}},
	{name: "the same twice", tool: "read_multiple_files", args: `{"paths":["%/work/uni.txt","%/work/uni.txt"]}`},
	{name: "two large", tool: "read_multiple_files", args: `{"paths":["%/work/big.txt","%/work/big.txt"]}`},
	{
		name: "binary", tool: "read_multiple_files", args: `{"paths":["%/work/bin","%/work/latin.txt"]}`,
		differs: "what is no text is refused: it could not be written back", ours: `/work/bin: Error - '/work/bin' is no text`,
	},
	{name: "relative", tool: "read_multiple_files", args: `{"paths":["a.txt"]}`},
	{name: "none", tool: "read_multiple_files", args: `{"paths":[]}`, normal: normals{refusedArguments}},

	{name: "suffix here", tool: "search_files", args: `{"path":"%/work/src","pattern":"*.go"}`, normal: normals{sorted}},
	{name: "suffix anywhere", tool: "search_files", args: `{"path":"%/work/src","pattern":"**/*.go"}`, normal: normals{sorted}},
	{name: "name", tool: "search_files", args: `{"path":"%/work/src","pattern":"main.go"}`},
	{name: "name below", tool: "search_files", args: `{"path":"%/work/src","pattern":"str.go"}`},
	{name: "everything", tool: "search_files", args: `{"path":"%/work/src","pattern":"**"}`, normal: normals{sorted}},
	{name: "one level", tool: "search_files", args: `{"path":"%/work/src","pattern":"*"}`, normal: normals{sorted}},
	{name: "below a directory, not itself", tool: "search_files", args: `{"path":"%/work/src","pattern":"util/**"}`, normal: normals{sorted}},
	{name: "directories anywhere", tool: "search_files", args: `{"path":"%/work/src","pattern":"**/deep"}`},
	{name: "below a directory anywhere", tool: "search_files", args: `{"path":"%/work/src","pattern":"**/util/**"}`, normal: normals{sorted}},
	{name: "two stars in the middle", tool: "search_files", args: `{"path":"%/work/src","pattern":"util/**/*.go"}`, normal: normals{sorted}},
	{name: "names with a dot", tool: "search_files", args: `{"path":"%/work/src","pattern":"**/.*"}`, normal: normals{sorted}},
	{name: "question mark", tool: "search_files", args: `{"path":"%/work/src","pattern":"?ain.go"}`},
	{name: "class", tool: "search_files", args: `{"path":"%/work/src","pattern":"[mr]*"}`, normal: normals{sorted}},
	{name: "negated class", tool: "search_files", args: `{"path":"%/work/src","pattern":"[!m]*.go"}`, normal: normals{sorted}},
	{name: "braces", tool: "search_files", args: `{"path":"%/work/src","pattern":"**/*.{go,md}"}`, normal: normals{sorted}},
	{name: "braces within braces", tool: "search_files", args: `{"path":"%/work/src","pattern":"{main,{read,write}me}.*"}`, normal: normals{sorted}},
	{
		name: "a range in braces", tool: "search_files", args: `{"path":"%/work/order","pattern":"c{1..2}"}`, normal: normals{sorted},
		differs: "braces hold alternatives, no ranges", ours: `passed: No matches found`,
	},
	{name: "escaped", tool: "search_files", args: `{"path":"%/work/src","pattern":"\\[d\\].txt"}`},
	{name: "a space", tool: "search_files", args: `{"path":"%/work/src","pattern":"a b.*"}`},
	{name: "a bracket that is not closed", tool: "search_files", args: `{"path":"%/work/src","pattern":"[m"}`},
	{name: "negated", tool: "search_files", args: `{"path":"%/work/src","pattern":"!*.go"}`, normal: normals{sorted}},
	{
		name: "extended", tool: "search_files", args: `{"path":"%/work/src","pattern":"@(main|readme).*"}`, normal: normals{sorted},
		differs: "there are no extended patterns", ours: `passed: No matches found`,
	},
	{name: "case", tool: "search_files", args: `{"path":"%/work/src","pattern":"**/readme.md"}`},
	{name: "excluded", tool: "search_files", args: `{"path":"%/work/src","pattern":"**/*.go","excludePatterns":["util"]}`, normal: normals{sorted}},
	{name: "excluded below", tool: "search_files", args: `{"path":"%/work/src","pattern":"**","excludePatterns":["util/**"]}`, normal: normals{sorted}},
	{name: "excluded anywhere", tool: "search_files", args: `{"path":"%/work/src","pattern":"**","excludePatterns":["**/*.go","**/node_modules"]}`, normal: normals{sorted}},
	{name: "excluded name below", tool: "search_files", args: `{"path":"%/work/src","pattern":"**/*.go","excludePatterns":["str.go"]}`, normal: normals{sorted}},
	{name: "none", tool: "search_files", args: `{"path":"%/work/src","pattern":"*.rs"}`},
	{name: "symlinks", tool: "search_files", args: `{"path":"%/work/links","pattern":"**"}`, normal: normals{sorted}},
	{name: "through a symlink", tool: "search_files", args: `{"path":"%/work/links/dir","pattern":"*.go"}`, normal: normals{sorted}},
	{name: "an absolute pattern", tool: "search_files", args: `{"path":"%/work/src","pattern":"%/work/src/*.go"}`},
	{name: "an empty pattern", tool: "search_files", args: `{"path":"%/work/src","pattern":""}`},
	{name: "missing", tool: "search_files", args: `{"path":"%/work/none","pattern":"*"}`},
	{name: "in a file", tool: "search_files", args: `{"path":"%/work/a.txt","pattern":"*"}`},
	{name: "outside", tool: "search_files", args: `{"path":"%/else","pattern":"*"}`},

	{name: "entries", tool: "list_directory", args: `{"path":"%/work/src"}`, normal: normals{sorted}},
	{name: "empty", tool: "list_directory", args: `{"path":"%/work/void"}`},
	{name: "symlinks", tool: "list_directory", args: `{"path":"%/work/links"}`, normal: normals{sorted}},
	{name: "through a symlink", tool: "list_directory", args: `{"path":"%/work/links/dir"}`, normal: normals{sorted}},
	{name: "a slash at the end", tool: "list_directory", args: `{"path":"%/work/src/util/"}`, normal: normals{sorted}},
	{name: "relative", tool: "list_directory", args: `{"path":"."}`, normal: normals{sorted}},
	{name: "missing", tool: "list_directory", args: `{"path":"%/work/none"}`},
	{name: "a file", tool: "list_directory", args: `{"path":"%/work/a.txt"}`},
	{name: "outside", tool: "list_directory", args: `{"path":"%/else"}`},

	{name: "by name", tool: "list_directory_with_sizes", args: `{"path":"%/work/order"}`},
	{
		name: "by name, letters of both cases and others", tool: "list_directory_with_sizes", args: `{"path":"%/work/case"}`,
		differs: "names are sorted by their bytes, as everywhere in a store, and not by the rules of a language", ours: `passed: [FILE] 10 `,
	},
	{name: "by size", tool: "list_directory_with_sizes", args: `{"path":"%/work/sizes","sortBy":"size"}`, normal: normals{sorted}},
	{name: "sizes", tool: "list_directory_with_sizes", args: `{"path":"%/work/sizes"}`, normal: normals{sorted}},
	{
		name: "symlinks", tool: "list_directory_with_sizes", args: `{"path":"%/work/links"}`, normal: normals{sorted},
		differs: "a directory takes no room of its own, and the size of what is outside stays unknown", ours: `[FILE] out                                   0 B`,
	},
	{name: "empty", tool: "list_directory_with_sizes", args: `{"path":"%/work/void"}`},
	{name: "by what there is not", tool: "list_directory_with_sizes", args: `{"path":"%/work/order","sortBy":"date"}`, normal: normals{refusedArguments}},
	{name: "missing", tool: "list_directory_with_sizes", args: `{"path":"%/work/none"}`},
	{name: "a file", tool: "list_directory_with_sizes", args: `{"path":"%/work/a.txt"}`},

	{name: "of a few", tool: "directory_tree", args: `{"path":"%/work/src"}`, normal: normals{sortedTree}},
	{name: "deep", tool: "directory_tree", args: `{"path":"%/work/deep"}`},
	{name: "empty", tool: "directory_tree", args: `{"path":"%/work/void"}`},
	{name: "excluded by name", tool: "directory_tree", args: `{"path":"%/work/src","excludePatterns":["util"]}`, normal: normals{sortedTree}},
	{name: "excluded name below", tool: "directory_tree", args: `{"path":"%/work/src","excludePatterns":["str.go","deep"]}`, normal: normals{sortedTree}},
	{name: "excluded by star", tool: "directory_tree", args: `{"path":"%/work/src","excludePatterns":["*.go"]}`, normal: normals{sortedTree}},
	{name: "excluded by two stars", tool: "directory_tree", args: `{"path":"%/work/src","excludePatterns":["**/*.go","node_modules/**"]}`, normal: normals{sortedTree}},
	{name: "excluded with a slash", tool: "directory_tree", args: `{"path":"%/work/src","excludePatterns":["util/deep"]}`, normal: normals{sortedTree}},
	{name: "symlinks", tool: "directory_tree", args: `{"path":"%/work/links"}`, normal: normals{sortedTree}},
	{name: "missing", tool: "directory_tree", args: `{"path":"%/work/none"}`},
	{name: "a file", tool: "directory_tree", args: `{"path":"%/work/a.txt"}`},
	{name: "outside", tool: "directory_tree", args: `{"path":"%/else"}`},

	{name: "file", tool: "get_file_info", args: `{"path":"%/work/a.txt"}`, normal: normals{untimed}},
	{name: "permissions", tool: "get_file_info", args: `{"path":"%/work/mode"}`, normal: normals{untimed}},
	{
		name: "directory", tool: "get_file_info", args: `{"path":"%/work/void"}`, normal: normals{untimed},
		differs: "a directory takes no room of its own", ours: "passed: size: 0\n",
	},
	{name: "symlink", tool: "get_file_info", args: `{"path":"%/work/links/file"}`, normal: normals{untimed}},
	{
		name: "dangling symlink", tool: "get_file_info", args: `{"path":"%/work/links/dangling"}`,
		differs: "the directory is there; what the symlink leads to is not", ours: `failed: ENOENT: no such file or directory, stat '/work/links/dangling'`,
	},
	{name: "missing", tool: "get_file_info", args: `{"path":"%/work/none"}`},
	{name: "outside", tool: "get_file_info", args: `{"path":"%/else"}`},

	{name: "new", tool: "write_file", args: `{"path":"%/work/new.txt","content":"new\n"}`},
	{name: "over", tool: "write_file", args: `{"path":"%/work/new.txt","content":"newer"}`},
	{name: "empty", tool: "write_file", args: `{"path":"%/work/hollow","content":""}`},
	{name: "beyond ASCII", tool: "write_file", args: `{"path":"%/work/日本.txt","content":"é😀\r\n\u0000"}`},
	{name: "keeps the mode", tool: "write_file", args: `{"path":"%/work/mode","content":"still\n"}`},
	{name: "through a symlink", tool: "write_file", args: `{"path":"%/work/links/file","content":"one\ntwo\nthree\n"}`},
	{
		name: "through a dangling symlink", tool: "write_file", args: `{"path":"%/work/apart/dangling","content":"x"}`,
		differs: "a write goes where the symlink leads, as open does, if that is allowed", ours: `passed: Successfully wrote`,
	},
	{
		name: "through a symlink that leaves", tool: "write_file", args: `{"path":"%/work/links/out/new","content":"x"}`,
		differs: "the reference names the directory at which it stopped", ours: `failed: Access denied - symlink target outside allowed directories: /else/new not in /work, /more`,
	},
	{name: "no directory", tool: "write_file", args: `{"path":"%/work/no/dir","content":"x"}`},
	{name: "below a file", tool: "write_file", args: `{"path":"%/work/a.txt/x","content":"x"}`, normal: normals{anyCall}},
	{name: "directory", tool: "write_file", args: `{"path":"%/work/src","content":"x"}`, normal: normals{anyCall}},
	{name: "outside", tool: "write_file", args: `{"path":"%/else/new","content":"x"}`},
	{name: "no content", tool: "write_file", args: `{"path":"%/work/x"}`, normal: normals{refusedArguments}},

	{name: "dry run", tool: "edit_file", args: `{"path":"%/work/edit/plain.txt","edits":[{"oldText":"two","newText":"2"}],"dryRun":true}`, normal: normals{uncontexted}},
	{name: "one", tool: "edit_file", args: `{"path":"%/work/edit/plain.txt","edits":[{"oldText":"two","newText":"2"}]}`, normal: normals{uncontexted}},
	{name: "two far apart", tool: "edit_file", args: `{"path":"%/work/edit/plain.txt","edits":[{"oldText":"one","newText":"1"},{"oldText":"fifteen","newText":"15"}]}`, normal: normals{uncontexted}},
	{name: "the second on what the first made", tool: "edit_file", args: `{"path":"%/work/edit/plain.txt","edits":[{"oldText":"three","newText":"3"},{"oldText":"3\nfour","newText":"3\n4"}]}`, normal: normals{uncontexted}},
	{name: "lines added", tool: "edit_file", args: `{"path":"%/work/edit/plain.txt","edits":[{"oldText":"seven\n","newText":"seven\nand a half\nand more\n"}]}`, normal: normals{uncontexted}},
	{name: "lines taken", tool: "edit_file", args: `{"path":"%/work/edit/plain.txt","edits":[{"oldText":"eight\nnine\n","newText":""}]}`, normal: normals{uncontexted}},
	{name: "none", tool: "edit_file", args: `{"path":"%/work/edit/plain.txt","edits":[]}`},
	{name: "the same text", tool: "edit_file", args: `{"path":"%/work/edit/plain.txt","edits":[{"oldText":"ten","newText":"ten"}]}`},
	{name: "not found", tool: "edit_file", args: `{"path":"%/work/edit/plain.txt","edits":[{"oldText":"absent\nlines","newText":"x"}]}`},
	{name: "the second not found", tool: "edit_file", args: `{"path":"%/work/edit/plain.txt","edits":[{"oldText":"ten","newText":"10"},{"oldText":"absent","newText":"x"}]}`},
	{
		name: "the first of several", tool: "edit_file", args: `{"path":"%/work/edit/dup","edits":[{"oldText":"x","newText":"y"}]}`,
		differs: "of equal lines the diff shows the changed one, and not the last", ours: "@@ -1,3 +1,3 @@\n-x\n+y\n x",
	},
	{name: "no line end", tool: "edit_file", args: `{"path":"%/work/edit/nonl","edits":[{"oldText":"b","newText":"c"}]}`},
	{name: "a line end added", tool: "edit_file", args: `{"path":"%/work/edit/nonl","edits":[{"oldText":"c","newText":"c\n"}]}`},
	{name: "backticks", tool: "edit_file", args: `{"path":"%/work/edit/fence.md","edits":[{"oldText":"x","newText":"y"}]}`},
	{name: "beyond ASCII", tool: "edit_file", args: `{"path":"%/work/edit/uni","edits":[{"oldText":"café","newText":"thé"}]}`},
	{name: "a dollar is a dollar", tool: "edit_file", args: `{"path":"%/work/edit/dollar","edits":[{"oldText":"1","newText":"$& $1 $$"}]}`},
	{
		name: "spaces at the ends", tool: "edit_file", args: `{"path":"%/work/apart/spaces","edits":[{"oldText":"a\nb","newText":"c\nd"}]}`,
		differs: "the reference keeps the indentation of the first line alone", ours: "\n+  c\n+  d\n",
	},
	{
		name: "indented otherwise", tool: "edit_file", args: `{"path":"%/work/apart/tabs","edits":[{"oldText":"if x {\n  y()\n}","newText":"if x {\n  y()\n  z()\n}"}]}`,
		differs: "the reference keeps the indentation of the first line alone", ours: "\n+\t\tz()\n",
	},
	{name: "into an empty file", tool: "edit_file", args: `{"path":"%/work/edit/empty","edits":[{"oldText":"","newText":"first\n"}]}`},
	{name: "an empty old text", tool: "edit_file", args: `{"path":"%/work/edit/uni","edits":[{"oldText":"","newText":"zeroth\n"}]}`},
	{
		name: "CRLF", tool: "edit_file", args: `{"path":"%/work/apart/crlf","edits":[{"oldText":"a\nb","newText":"A\nB"}]}`,
		differs: "the reference writes the file with other line breaks than it had", ours: "\n-a\r\n-b\r\n+A\r\n+B\r\n c\r\n",
	},
	{
		name: "mixed line ends", tool: "edit_file", args: `{"path":"%/work/apart/mixed","edits":[{"oldText":"a\nb","newText":"A\nB"}]}`,
		differs: "the reference writes the file with other line breaks than it had", ours: "\n-a\r\n-b\n+A\n+B\n c\r\n",
	},
	{
		name: "binary", tool: "edit_file", args: `{"path":"%/work/apart/bin","edits":[{"oldText":"a","newText":"b"}]}`,
		differs: "what is no text is not edited", ours: `failed: EINVAL: `,
	},
	{name: "not UTF-8", tool: "edit_file", args: `{"path":"%/work/apart/latin","edits":[{"oldText":"caf","newText":"CAF"}]}`},
	{name: "missing", tool: "edit_file", args: `{"path":"%/work/none","edits":[]}`},
	{name: "directory", tool: "edit_file", args: `{"path":"%/work/src","edits":[]}`, normal: normals{anyCall}},
	{name: "outside", tool: "edit_file", args: `{"path":"%/else/secret.txt","edits":[]}`},
	{name: "no edits", tool: "edit_file", args: `{"path":"%/work/a.txt"}`, normal: normals{refusedArguments}},
	{name: "an edit without newText", tool: "edit_file", args: `{"path":"%/work/a.txt","edits":[{"oldText":"one"}]}`, normal: normals{refusedArguments}},

	{name: "new", tool: "create_directory", args: `{"path":"%/work/made"}`},
	{name: "there", tool: "create_directory", args: `{"path":"%/work/made"}`},
	{name: "with those above", tool: "create_directory", args: `{"path":"%/work/p/q/r"}`},
	{name: "a file", tool: "create_directory", args: `{"path":"%/work/a.txt"}`},
	{name: "below a file", tool: "create_directory", args: `{"path":"%/work/a.txt/x"}`, normal: normals{anyCall}},
	{name: "through a symlink", tool: "create_directory", args: `{"path":"%/work/links/dir/made"}`},
	{
		name: "through a dangling symlink", tool: "create_directory", args: `{"path":"%/work/apart/astray/made"}`,
		differs: "what is made is made where the symlink leads, as in a write, if that is allowed", ours: `passed: Successfully created`,
	},
	{name: "outside", tool: "create_directory", args: `{"path":"%/other"}`},

	{name: "file", tool: "move_file", args: `{"source":"%/work/move/f","destination":"%/work/move/f2"}`},
	{name: "to the other directory", tool: "move_file", args: `{"source":"%/work/move/f2","destination":"%/more/f2"}`},
	{name: "directory", tool: "move_file", args: `{"source":"%/work/move/d","destination":"%/work/move/d2"}`},
	{name: "onto a file", tool: "move_file", args: `{"source":"%/work/move/g","destination":"%/work/a.txt"}`},
	{name: "onto a directory", tool: "move_file", args: `{"source":"%/work/move/g","destination":"%/work/move/d2"}`},
	{name: "onto itself", tool: "move_file", args: `{"source":"%/work/move/g","destination":"%/work/move/g"}`},
	{
		name: "into itself", tool: "move_file", args: `{"source":"%/work/move/d2","destination":"%/work/move/d2/in2"}`,
		differs: "ours says why", ours: `failed: EINVAL: '/work/move/d2/in2' is inside '/work/move/d2'`,
	},
	{name: "missing", tool: "move_file", args: `{"source":"%/work/none","destination":"%/work/x"}`},
	{name: "no directory", tool: "move_file", args: `{"source":"%/work/move/g","destination":"%/work/no/g"}`},
	// The reference moves the file that the symlink leads to, ours the symlink, as rename does: the trees show it.
	{name: "a symlink", tool: "move_file", args: `{"source":"%/work/apart/link","destination":"%/work/apart/link2"}`},
	{
		name: "onto a dangling symlink", tool: "move_file", args: `{"source":"%/work/move/g","destination":"%/work/links/dangling"}`,
		differs: "the symlink is there", ours: `failed: Destination already exists: /work/links/dangling`,
	},
	{name: "from outside", tool: "move_file", args: `{"source":"%/else/secret.txt","destination":"%/work/x"}`},
	{name: "to outside", tool: "move_file", args: `{"source":"%/work/move/g","destination":"%/else/g"}`},
	{name: "no destination", tool: "move_file", args: `{"source":"%/work/move/g"}`, normal: normals{refusedArguments}},
}
