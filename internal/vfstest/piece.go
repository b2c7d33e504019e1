package vfstest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/vfs"
)

// A Stand is what a path shows: all but what follows from other paths.
type Stand struct {
	text string
	time time.Time // of its content; of no directory
	ino  vfs.Ino
}

// Shown returns what all paths of a tree show.
func Shown(t testing.TB, fsys *vfs.FS) map[string]Stand {
	all := make(map[string]Stand)
	for name := range Dump(t, fsys) {
		info, err := fsys.Lstat(t.Context(), name)
		require.NoError(t, err)
		s := Stand{text: fmt.Sprint(info.Mode(), info.Target(), info.Xattrs()), ino: info.Ino()}
		if info.Mode().IsRegular() {
			s.text += Read(t, fsys, name)
		}
		if !info.IsDir() {
			s.time = info.ModTime()
		}
		all[name] = s
	}
	return all
}

// CheckPiece requires that a path shows what it showed then, and all others what they showed before, but for the directories above. The path
// "." is everything.
func CheckPiece(t testing.TB, before, then, now map[string]Stand, path string) {
	t.Helper()
	inside := func(name string) bool {
		return path == "." || name == path || len(name) > len(path) && name[:len(path)+1] == path+"/"
	}
	want := make(map[string]Stand)
	for name, s := range before {
		if !inside(name) {
			want[name] = s
		}
	}
	for name, s := range then {
		above := len(path) > len(name) && path[:len(name)+1] == name+"/"
		if _, there := want[name]; inside(name) || above && !there {
			want[name] = s
		}
	}
	require.Len(t, now, len(want))
	for name, s := range want {
		require.Equal(t, s.text, now[name].text, name)
		require.True(t, s.time.Equal(now[name].time), name)
	}

	// Names of one file then are names of one file now, and no others.
	for a := range then {
		for b := range then {
			if inside(a) && inside(b) {
				require.Equal(t, then[a].ino == then[b].ino, now[a].ino == now[b].ino, "%s and %s", a, b)
			}
		}
	}
	for a := range now {
		for b, s := range before {
			if inside(a) && !inside(b) && before[a].ino != s.ino {
				require.NotEqual(t, s.ino, now[a].ino, "%s and %s", a, b)
			}
		}
	}
}
