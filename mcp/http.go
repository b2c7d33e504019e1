package mcp

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"vfsdb/internal/loopback"
)

// HTTPOptions are the settings of a server over HTTP: the callers that it admits, and the bounds of their use.
type HTTPOptions struct {
	// Token is the bearer token that every request has to carry. It must be set; [NewToken] makes one.
	Token string

	// Hosts are the host names that requests may use beside those of the loopback: "files.example.org".
	Hosts []string

	// Origins are the web origins whose pages may call, beside those of the loopback: "https://app.example.org".
	Origins []string

	// TLS is the configuration of HTTPS; nil is plain HTTP.
	TLS *tls.Config

	// MaxSessions bounds the number of open sessions; 0 is 64.
	MaxSessions int
}

// Bounds of the resources that clients can make the server use.
const (
	maxMessage     = 16 << 20 // bytes of one message
	maxHeader      = 64 << 10
	maxSessions    = 64
	idleSession    = time.Hour // without a request from the client
	headerTimeout  = 10 * time.Second
	idleConnection = 2 * time.Minute
	shutdownWait   = 5 * time.Second
)

// Endpoint is the path of [Server.Handler].
const Endpoint = "/mcp"

// NewToken makes a bearer token that nobody can guess.
func NewToken() string { return rand.Text() }

// Listen opens an address for [Server.ServeHTTP]. The address is host:port; without a host it is the loopback. A host
// that other machines can reach is EACCES, unless o.Hosts has the names by which they may call.
func Listen(ctx context.Context, addr string, o *HTTPOptions) (net.Listener, error) {
	if err := checkOrigins(o.Origins); err != nil {
		return nil, err
	}
	return loopback.Listen(ctx, addr, len(o.Hosts) > 0)
}

// ServeHTTP serves the streamable HTTP transport on l until ctx is done. Then it ends the sessions and their calls, and
// waits a few seconds for the last answers to go out.
func (s *Server) ServeHTTP(ctx context.Context, l net.Listener, o *HTTPOptions) error {
	handler, err := s.Handler(o)
	if err != nil {
		return errors.Join(err, l.Close())
	}

	requests, endRequests := context.WithCancel(context.WithoutCancel(ctx))
	defer endRequests()
	web := &http.Server{
		BaseContext: func(net.Listener) context.Context { return requests },
		Handler:     handler, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleConnection, MaxHeaderBytes: maxHeader,
		ErrorLog: s.errorLog(),
	}
	listen := func() error { return web.Serve(l) }

	if o.TLS != nil {
		web.TLSConfig = o.TLS.Clone()
		web.TLSConfig.MinVersion = max(web.TLSConfig.MinVersion, tls.VersionTLS12)
		listen = func() error { return web.ServeTLS(l, "", "") }
	}

	served := make(chan error, 1)
	go func() { served <- listen() }()

	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}

	// Sessions end first, with the answers to their calls. The streams that clients keep open for messages end
	// afterwards.
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.endSessions()
	}()

	select {
	case <-ended:
	case <-time.After(s.grace): // a client that does not read its answers
	}

	endRequests()
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.grace)
	defer cancel()
	err = web.Shutdown(wait)
	if err != nil {
		err = fmt.Errorf("requests were still running: %w", errors.Join(err, web.Close()))
	}
	<-served
	<-ended
	return err
}

// Handler serves HTTP at [Endpoint]. A request must carry the token, and use a loopback host or one of o.Hosts. If it
// comes from a web page, the page must be of a loopback origin or one of o.Origins.
func (s *Server) Handler(o *HTTPOptions) (http.Handler, error) {
	if o == nil || o.Token == "" {
		return nil, fmt.Errorf("serve HTTP: a bearer token has to be set: %w", syscall.EINVAL)
	}

	if err := checkOrigins(o.Origins); err != nil {
		return nil, err
	}
	if o.MaxSessions < 0 {
		return nil, fmt.Errorf("serve HTTP: at most %d sessions: %w", o.MaxSessions, syscall.EINVAL)
	}

	gate := &gate{options: *o, sum: sha256.Sum256([]byte(o.Token))}
	if gate.options.MaxSessions == 0 {
		gate.options.MaxSessions = maxSessions
	}

	one := func(*http.Request) *sdk.Server { return s.sdk }

	// The protocol of 2026-07-28 has no sessions, and earlier versions need them. A header of the request names the
	// version.
	gate.stateful = sdk.NewStreamableHTTPHandler(one, &sdk.StreamableHTTPOptions{
		EventStore: sdk.NewMemoryEventStore(nil), // a broken stream can be resumed
		Logger:     s.logger, SessionTimeout: idleSession, MaxRequestBodyBytes: maxMessage, DisableLocalhostProtection: true,
	})

	gate.stateless = sdk.NewStreamableHTTPHandler(one, &sdk.StreamableHTTPOptions{
		Logger: s.logger, Stateless: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: maxMessage, DisableLocalhostProtection: true,
	})

	gate.sessions = func() int { return len(slices.Collect(s.sdk.Sessions())) }
	mux := http.NewServeMux()
	mux.Handle(Endpoint, gate)
	return mux, nil
}

// checkOrigins refuses an origin that no browser would send.
func checkOrigins(origins []string) error {
	for _, origin := range origins {
		if u, err := url.Parse(origin); err != nil || u.Scheme == "" || u.Host == "" || origin != u.Scheme+"://"+u.Host {
			return fmt.Errorf("origin %q: it has to be like https://app.example.org: %w", origin, syscall.EINVAL)
		}
	}
	return nil
}

// A gate stands before the transport and admits requests.
type gate struct {
	options             HTTPOptions
	sum                 [sha256.Size]byte // of the token
	sessions            func() int
	stateful, stateless http.Handler
}

// firstStateless is the first version of the protocol that has no sessions.
const firstStateless = "2026-07-28"

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !loopback.Allows(r.Host, g.options.Hosts) {
		http.Error(w, fmt.Sprintf("Forbidden: this server does not answer to the host %q", r.Host), http.StatusForbidden)
		return
	}
	if !g.allowsOrigin(w, r) {
		http.Error(w, fmt.Sprintf("Forbidden: pages of the origin %q may not call", r.Header.Get("Origin")), http.StatusForbidden)
		return
	}

	// A browser asks beforehand, without the token.
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return
	}

	if !g.knows(r.Header.Get("Authorization")) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "Unauthorized: send the token of this server as Authorization: Bearer <token>", http.StatusUnauthorized)
		return
	}

	if r.Header.Get("Mcp-Protocol-Version") >= firstStateless {
		g.stateless.ServeHTTP(w, r)
		return
	}

	if r.Method == http.MethodPost && r.Header.Get("Mcp-Session-Id") == "" && g.sessions() >= g.options.MaxSessions {
		w.Header().Set("Retry-After", "60")
		http.Error(w, "Service Unavailable: too many sessions are open; end one", http.StatusServiceUnavailable)
		return
	}
	g.stateful.ServeHTTP(w, r)
}

// knows reports whether a request carries the token. It compares sums, which takes the same time for any token.
func (g *gate) knows(header string) bool {
	scheme, token, _ := strings.Cut(header, " ")
	sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
	return subtle.ConstantTimeCompare(sum[:], g.sum[:]) == 1 && strings.EqualFold(scheme, "Bearer")
}

// allowsOrigin checks the web page from which a browser sends the request, and sets the headers that allow the browser
// to call.
func (g *gate) allowsOrigin(w http.ResponseWriter, r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true // not from a page of another site
	}

	if !slices.Contains(g.options.Origins, origin) {
		u, err := url.Parse(origin)
		return err == nil && (u.Scheme == "http" || u.Scheme == "https") && loopback.Is(u.Hostname())
	}

	h := w.Header()
	h.Set("Vary", "Origin")
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "Mcp-Session-Id")
	if r.Method == http.MethodOptions {
		h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
		h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Last-Event-ID, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id")
		h.Set("Access-Control-Max-Age", "600")
	}
	return true
}
