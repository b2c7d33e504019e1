package archive

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"syscall"
)

// A Format is a format of archives.
type Format string

// The formats. "" is none.
const (
	Tar    Format = "tar"
	TarGz  Format = "tar.gz"
	TarZst Format = "tar.zst"
	Zip    Format = "zip"
)

// Formats returns all formats.
func Formats() []Format { return []Format{Tar, TarGz, TarZst, Zip} }

// endings are the other endings of names that choose a format.
var endings = map[string]Format{"tgz": TarGz, "tzst": TarZst}

// Parse returns the format that a text such as "tar.gz" or "tgz" names. Any other text is EINVAL.
func Parse(text string) (Format, error) {
	if f := Format(text); slices.Contains(Formats(), f) {
		return f, nil
	}
	if f, ok := endings[text]; ok {
		return f, nil
	}
	return "", fmt.Errorf("%q is no format of archives: there are tar, tar.gz, tar.zst and zip: %w", text, syscall.EINVAL)
}

// FormatOf returns the format that the ending of a file's name chooses, in any case of letters, or "".
func FormatOf(name string) Format {
	lower := strings.ToLower(name)
	for _, f := range Formats() {
		if strings.HasSuffix(lower, "."+string(f)) {
			return f
		}
	}
	for ending, f := range endings {
		if strings.HasSuffix(lower, "."+ending) {
			return f
		}
	}
	return ""
}

// StartSize is how many bytes of an archive Detect needs.
const StartSize = 512

// magics are the first bytes of archives and of packed files, and what they are.
var magics = []struct {
	start string
	is    Format
	other string // a format that is not read
	how   string // a command that unpacks it
}{
	{start: "\x1f\x8b", is: TarGz},
	{start: "\x28\xb5\x2f\xfd", is: TarZst},
	{start: "PK\x03\x04", is: Zip},
	{start: "PK\x05\x06", is: Zip}, // an empty one
	{start: "PK\x07\x08", is: Zip}, // one that was to be split
	{start: "\xfd7zXZ\x00", other: "xz", how: "xz -dc"},
	{start: "BZh", other: "bzip2", how: "bzip2 -dc"},
	{start: "\x04\x22\x4d\x18", other: "lz4", how: "lz4 -dc"},
	{start: "LZIP", other: "lzip", how: "lzip -dc"},
	{start: "\x1f\x9d", other: "compress", how: "uncompress -c"},
	{start: "7z\xbc\xaf\x27\x1c", other: "7z"},
	{start: "Rar!\x1a\x07", other: "rar"},
}

// Detect recognises an archive by its first bytes. It returns "" for bytes that say nothing, as those of very old tars and of
// zips that begin with a program. A format that is not read is ENOTSUP.
func Detect(start []byte) (Format, error) {
	if len(start) >= 262 && string(start[257:262]) == "ustar" {
		return Tar, nil
	}
	if len(start) >= 4 && start[0]&0xf0 == 0x50 && string(start[1:4]) == "\x2a\x4d\x18" {
		return TarZst, nil // a frame to skip, as parallel compressors write it first
	}

	for _, m := range magics {
		if !bytes.HasPrefix(start, []byte(m.start)) {
			continue
		}
		switch {
		case m.is != "":
			return m.is, nil
		case m.how != "":
			return "", fmt.Errorf("it is packed by %s, which is not read here: pipe it through %s: %w", m.other, m.how, syscall.ENOTSUP)
		}
		return "", fmt.Errorf("it is a %s archive, which is not read here: %w", m.other, syscall.ENOTSUP)
	}
	return "", nil
}
