package webdav

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"

	dav "golang.org/x/net/webdav"

	"vfsdb/internal/loopback"
	"vfsdb/vfs"
)

// Options say how a tree is served. A nil *Options is the zero value.
type Options struct {
	// ReadOnly refuses every request that changes something, with 403. A past moment is always served so.
	ReadOnly bool

	// Actor is recorded as the author of changes.
	Actor string
}

// maxBody bounds the XML of a request, in bytes.
const maxBody = 64 << 10

// A handler serves one tree.
type handler struct {
	Options
	fsys    *vfs.FS
	locks   *locks
	silence time.Duration // how long a client may neither send nor read
}

// New returns a handler that serves a tree over WebDAV. It refuses requests with another host than the loopback's, and
// those that a browser sends for a page of another site.
func New(fsys *vfs.FS, o *Options) http.Handler {
	h := &handler{fsys: fsys, locks: newLocks(), silence: maxSilence}
	if o != nil {
		h.Options = *o
	}
	h.ReadOnly = h.ReadOnly || fsys.Frozen() || fsys.Store().ReadOnly()
	return h
}

// Methods that change nothing, and those that do.
var (
	reads  = []string{http.MethodOptions, http.MethodGet, http.MethodHead, "PROPFIND"}
	writes = []string{http.MethodPut, http.MethodDelete, "MKCOL", "COPY", "MOVE", "PROPPATCH", "LOCK", "UNLOCK"}
)

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	peer := peer{http.NewResponseController(w), h.silence}
	peer.mayWrite()
	defer peer.leave()

	if !loopback.Allows(r.Host, nil) {
		http.Error(w, fmt.Sprintf("Forbidden: this server does not answer to the host %q", r.Host), http.StatusForbidden)
		return
	}
	if !ownSite(r) {
		http.Error(w, "Forbidden: pages of other sites may not call", http.StatusForbidden)
		return
	}

	// A stored page must not act in the name of this server, nor be taken for another type than it has.
	w.Header().Set("Content-Security-Policy", "sandbox")
	w.Header().Set("X-Content-Type-Options", "nosniff")

	switch {
	case slices.Contains(reads, r.Method):
	case !slices.Contains(writes, r.Method):
		http.Error(w, "Method Not Allowed", http.StatusMethodNotAllowed)
		return
	case h.ReadOnly:
		http.Error(w, "Forbidden: this tree is read-only", http.StatusForbidden)
		return
	}
	r.Body = stream{r.Body, peer}
	if !h.normalize(w, r) {
		return
	}

	ctx := vfs.WithCall(r.Context(), &vfs.Call{Began: time.Now(), Actor: h.Actor, Tool: "webdav " + r.Method})
	q := &request{fsys: h.fsys, Request: r.WithContext(ctx)}
	if !q.precondition(w) {
		return
	}
	one := dav.Handler{FileSystem: q, LockSystem: lockView{h.locks, ctx, h.fsys}}
	one.ServeHTTP(&answer{ResponseWriter: w, request: q, peer: peer}, q.Request)
}

// ownSite reports whether a request comes from no web page, or from one of this server.
func ownSite(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "none" && site != "same-origin" {
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Scheme == "http" && u.Host == r.Host
}

// normalize gives a request the bounds and the defaults of the protocol that x/net leaves out. If it cannot, it answers
// and returns false.
func (h *handler) normalize(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodPut {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	}

	switch r.Method {
	case "PROPFIND":
		if depth := r.Header.Get("Depth"); depth == "" || depth == "infinity" {
			w.Header().Set("Content-Type", "application/xml; charset=utf-8")
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `<?xml version="1.0" encoding="UTF-8"?><D:error xmlns:D="DAV:"><D:propfind-finite-depth/></D:error>`)
			return false
		}
	case "MOVE":
		if r.Header.Get("Overwrite") == "" {
			r.Header.Set("Overwrite", "T")
		}
	case "LOCK":
		r.Header.Set("Timeout", lockTimeout(r.Header.Get("Timeout")))
	}
	return true
}
