package webdav

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	dav "golang.org/x/net/webdav"

	"vfsdb/vfs"
)

// Bounds of locks: how long one holds without being refreshed, and how many there are.
const (
	maxLockTime = 24 * time.Hour
	maxLocks    = 1024
)

// lockTimeout returns the Timeout header of a LOCK with its first time, at most maxLockTime.
func lockTimeout(header string) string {
	first, _, _ := strings.Cut(header, ",")
	text, ok := strings.CutPrefix(strings.TrimSpace(first), "Second-")
	if n, err := strconv.ParseUint(text, 10, 32); ok && (err != nil || time.Duration(n)*time.Second <= maxLockTime) {
		return strings.TrimSpace(first) // x/net refuses what is no number
	}
	return fmt.Sprintf("Second-%d", maxLockTime/time.Second)
}

// locks are the locks of a tree, in the memory of this process. Those of clients are bounded in number; the short ones
// of running requests, which have no time, are not.
type locks struct {
	dav.LockSystem
	mu   sync.Mutex
	ends map[string]time.Time // of the locks of clients, by token
}

func newLocks() *locks {
	return &locks{LockSystem: dav.NewMemLS(), ends: map[string]time.Time{}}
}

// Create is that of a [dav.LockSystem]. A lock too many is ENOLCK.
func (l *locks) Create(now time.Time, details dav.LockDetails) (token string, err error) {
	if details.Duration < 0 {
		return l.LockSystem.Create(now, details)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.ends) >= maxLocks {
		for token, end := range l.ends {
			if end.Before(now) {
				delete(l.ends, token)
			}
		}
	}
	if len(l.ends) >= maxLocks {
		return "", syscall.ENOLCK
	}

	token, err = l.LockSystem.Create(now, details)
	if err == nil {
		l.ends[token] = now.Add(details.Duration)
	}
	return token, err
}

// Refresh is that of a [dav.LockSystem].
func (l *locks) Refresh(now time.Time, token string, duration time.Duration) (dav.LockDetails, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	details, err := l.LockSystem.Refresh(now, token, duration)
	if err == nil {
		l.ends[token] = now.Add(duration)
	}
	return details, err
}

// Unlock is that of a [dav.LockSystem].
func (l *locks) Unlock(now time.Time, token string) error {
	err := l.LockSystem.Unlock(now, token)
	if err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.ends, token)
	}
	return err
}

// A lockView is the locks as one request sees them: a lock of a path holds for the file that it leads to, so a symlink is no
// way around it.
type lockView struct {
	*locks
	ctx  context.Context
	fsys *vfs.FS
}

// Create is that of a [dav.LockSystem].
func (v lockView) Create(now time.Time, details dav.LockDetails) (token string, err error) {
	details.Root = v.resolve(details.Root)
	return v.locks.Create(now, details)
}

// Confirm is that of a [dav.LockSystem].
func (v lockView) Confirm(now time.Time, name0, name1 string, conditions ...dav.Condition) (release func(), err error) {
	return v.locks.Confirm(now, v.resolve(name0), v.resolve(name1), conditions...)
}

// resolve returns where a path leads, or the path if it leads nowhere.
func (v lockView) resolve(name string) string {
	if name == "" {
		return name // x/net has one name in place of two
	}
	_ = v.fsys.View(v.ctx, func(tx *vfs.Tx) error {
		found, err := tx.Resolve(name, true)
		if err == nil {
			name = "/" + found
		}
		return err
	})
	return name
}
