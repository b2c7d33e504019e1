package loopback

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
)

// Is reports whether only this machine can reach itself by the host: "localhost", or an address of the loopback.
func Is(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// Allows reports whether a request may use a host, with or without a port: one of the loopback, or one of others. A web
// page could otherwise reach a server by a name of its own that resolves to this machine (DNS rebinding).
func Allows(hostport string, others []string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	return Is(strings.Trim(host, "[]")) || slices.ContainsFunc(others, func(allowed string) bool {
		return strings.EqualFold(allowed, host) || strings.EqualFold(allowed, hostport)
	})
}

// Listen opens an address, host:port; without a host it is the loopback. Unless it is open to others, a host that other
// machines can reach is EACCES. An address of another form is EINVAL.
func Listen(ctx context.Context, addr string, open bool) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %q: it has to be host:port or :port: %w", addr, syscall.EINVAL)
	}
	if host == "" {
		host = "127.0.0.1"
	}

	if !Is(host) && !open {
		return nil, fmt.Errorf("listen on %q: other machines could reach it, and no name is allowed by which they may: %w", addr, syscall.EACCES)
	}
	return new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, port))
}
