package journal

import (
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// A wake wakes every waiting watch once something may have been committed: by this process, which calls all, or by
// another, whose writes to the files of the database are noticed.
type wake struct {
	mu    sync.Mutex
	ch    chan struct{} // nil while no watch waits
	users int           // of the pump
	stop  func()        // ends the pump, and waits for that
}

// next returns a channel that is closed at the next call of all.
func (w *wake) next() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ch == nil {
		w.ch = make(chan struct{})
	}
	return w.ch
}

// all wakes every watch that waits.
func (w *wake) all() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ch != nil {
		close(w.ch)
		w.ch = nil
	}
}

// listen makes the commits of other processes wake watches too, until the function that it returns is called.
func (w *wake) listen(file string) (end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()

	if w.users++; w.users == 1 {
		quit, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			w.pump(file, quit)
		}()
		w.stop = func() { close(quit); <-done }
	}

	// The last user ends the pump. It waits for that without the lock, which the pump takes to wake.
	return func() {
		w.mu.Lock()
		stop := w.stop
		w.users--
		last := w.users == 0
		w.mu.Unlock()
		if last {
			stop()
		}
	}
}

const (
	// heartbeat is how long a commit may stay unseen on a file system that does not report the writes of other processes.
	heartbeat = time.Second

	// A writer shows its commit to readers a little after its last write to a file: it has to be durable before. So
	// there is another look soon after each write, and then ever later ones.
	firstLook, lastLook = time.Millisecond, 256 * time.Millisecond
)

// pump wakes until stop is closed. It watches the directory: the database itself must not be opened, because closing it
// would take the locks of this process away.
func (w *wake) pump(file string, stop <-chan struct{}) {
	var wrote chan fsnotify.Event // stays nil where nothing can be watched
	var failed chan error
	if n, err := fsnotify.NewWatcher(); err == nil {
		defer n.Close()
		if n.Add(filepath.Dir(file)) == nil {
			wrote, failed = n.Events, n.Errors
		}
	}

	beat := time.NewTicker(heartbeat)
	defer beat.Stop()

	var pause time.Duration // until the next look; 0 if none is to come
	look := time.NewTimer(heartbeat)
	look.Stop()
	defer look.Stop()

	for {
		select {
		case <-stop:
			return
		case e := <-wrote:
			if strings.HasPrefix(e.Name, file) && e.Has(fsnotify.Write|fsnotify.Create) {
				if pause != firstLook { // one that is due at once is not put off, or a busy writer would hide
					pause = firstLook
					look.Reset(pause)
				}
			}
			continue
		case <-failed: // events were lost
		case <-beat.C:
		case <-look.C:
			if pause *= 4; pause <= lastLook {
				look.Reset(pause)
			} else {
				pause = 0
			}
		}

		w.all()
	}
}
