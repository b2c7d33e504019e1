package doors

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/mcp"
)

// tokenEnv is the variable that holds the bearer token.
const tokenEnv = "VFS_MCP_TOKEN"

// shortestToken is the least length of a token, in bytes. A shorter one can be guessed.
const shortestToken = 16

// serveHTTP serves over the network until ctx is done. If the token was made for this run, it is printed.
func (m *mcpServer) serveHTTP(ctx context.Context, cmd *cobra.Command, server *mcp.Server, made bool) error {
	if m.tlsCert != "" {
		var err error
		if m.web.TLS, err = m.certificate(); err != nil {
			return err
		}
	}

	l, err := mcp.Listen(ctx, m.http, &m.web)
	if errors.Is(err, syscall.EACCES) && len(m.web.Hosts) == 0 {
		return cli.Usage(cmd, "%v; --allow-host NAME allows one", err)
	}
	if errors.Is(err, syscall.EINVAL) {
		return cli.Usage(cmd, "%w", err)
	}
	if err != nil {
		return err
	}

	scheme := "http"
	if m.web.TLS != nil {
		scheme = "https"
	} else if len(m.web.Hosts) > 0 {
		m.Warn("warning: --allow-host without --tls-cert: the token and the files cross the network unencrypted, unless a proxy encrypts them")
	}
	m.Warn("serving %s://%s%s", scheme, l.Addr(), mcp.Endpoint)
	if made {
		m.Warn("its token was made for this run: %s", m.web.Token)
	}
	return server.ServeHTTP(ctx, l, &m.web)
}

// token finds the bearer token, or makes one and reports that it did.
func (m *mcpServer) token() (made bool, err error) {
	m.web.Token = os.Getenv(tokenEnv)
	from := "$" + tokenEnv
	if m.tokenFile != "" {
		text, err := m.readSecret(m.tokenFile)
		if err != nil {
			return false, err
		}
		m.web.Token, from = string(bytes.TrimSpace(text)), m.tokenFile
	} else if m.web.Token == "" {
		m.web.Token = mcp.NewToken()
		return true, nil
	}
	if len(m.web.Token) < shortestToken || strings.ContainsFunc(m.web.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return false, fmt.Errorf("%s: a token is %d or more printable ASCII characters without spaces", from, shortestToken)
	}
	return false, nil
}

// certificate reads the certificates and the key of HTTPS.
func (m *mcpServer) certificate() (*tls.Config, error) {
	cert, err := os.ReadFile(m.tlsCert)
	if err != nil {
		return nil, err
	}
	key, err := m.readSecret(m.tlsKey)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("%s with %s: %w", m.tlsCert, m.tlsKey, err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}}, nil
}

// readSecret reads a file that only its owner should be able to use, and warns if others can.
func (m *mcpServer) readSecret(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}

	// On Windows the mode of a file does not limit its readers.
	if mode := info.Mode(); runtime.GOOS != "windows" && mode.IsRegular() && mode.Perm()&0o077 != 0 {
		m.Warn("warning: others on this machine can use %s, whose mode is %04o: chmod 600 it", name, mode.Perm())
	}
	return io.ReadAll(f)
}
