package kept

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
	"time"

	"vfsdb/snapshot"
)

// The beginnings of the name and the note of an automatic snapshot.
const (
	AutoPrefix = "auto-"
	AutoNote   = "automatic: before "
)

// AutoName makes up the name of an automatic snapshot.
func AutoName() string { return AutoPrefix + Suffix() }

// Suffix makes up the end of a name: the time to the second, and 8 digits by chance.
func Suffix() string {
	id := make([]byte, 4)
	_, _ = rand.Read(id) // it cannot fail
	return time.Now().UTC().Format("20060102-150405") + "-" + hex.EncodeToString(id)
}

// IsAutomatic reports whether a session took a snapshot by itself, for Undo.
func IsAutomatic(s snapshot.Info) bool {
	return strings.HasPrefix(s.Name, AutoPrefix) && strings.HasPrefix(s.Note, AutoNote)
}
