package webdav

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"vfsdb/internal/loopback"
	"vfsdb/vfs"
)

// The bounds of a client's requests. An upload has no bound but the disk's.
const (
	maxHeader      = 64 << 10
	headerTimeout  = 10 * time.Second
	idleConnection = 2 * time.Minute
	maxSilence     = 2 * time.Minute // in the middle of a request or an answer
	shutdownWait   = 5 * time.Second
)

// Listen opens an address for [Serve]: host:port, or :port on the loopback. A host that other machines can reach is
// EACCES.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	return loopback.Listen(ctx, addr, false)
}

// Serve serves a tree on l until ctx is done, as [New] does. Then it waits a few seconds for the requests that are running.
func Serve(ctx context.Context, l net.Listener, fsys *vfs.FS, o *Options) error {
	requests, endRequests := context.WithCancel(context.WithoutCancel(ctx))
	defer endRequests()
	web := &http.Server{
		BaseContext: func(net.Listener) context.Context { return requests },
		Handler:     New(fsys, o), ReadHeaderTimeout: headerTimeout, IdleTimeout: idleConnection, MaxHeaderBytes: maxHeader,
	}
	served := make(chan error, 1)
	go func() { served <- web.Serve(l) }()

	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}

	wait, cancel := context.WithTimeout(requests, shutdownWait)
	defer cancel()
	err := web.Shutdown(wait)
	if err != nil {
		endRequests()
		err = fmt.Errorf("requests were still running: %w", errors.Join(err, web.Close()))
	}
	<-served
	return err
}
