package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/internal/mimetype"
	"vfsdb/vfs"
)

// maxResource bounds a file that is read as a resource. It has to fit into a message when it is encoded.
const maxResource = maxMessage / 2

// addTemplate adds the template for the URIs of the files of a workspace.
func (s *Server) addTemplate(w *workspace) {
	s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{
		Name:        w.box.Workspace(),
		Title:       "Files of " + w.box.Workspace(),
		Description: fmt.Sprintf("Any file of the branch %s, by its path. Subscribe to one, or to a directory, to hear of changes.", w.fsys.Head()),
		URITemplate: w.base + "{+path}",
	}, s.read)
}

// listing answers resources/list from the tree. It also refuses calls of tools that are missing, and rehomes reads. The
// SDK answers all other requests.
func (s *Server) listing(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		switch r := r.(type) {
		case *sdk.ListResourcesRequest:
			if method == "resources/list" {
				return s.list(ctx, r)
			}
		case *sdk.CallToolRequest:
			if refused := s.missing(r.Params.Name); refused != nil {
				return refused, nil
			}
		case *sdk.ReadResourceRequest:
			ctx, request := s.rehome(ctx, r)
			return next(ctx, method, request)
		}
		return next(ctx, method, r)
	}
}

// A cursor is the place where a page of the list begins: after a file of a workspace.
type cursor struct {
	Workspace int    `json:"w"`
	After     string `json:"a"`
}

// list returns a page of the files of all workspaces.
func (s *Server) list(ctx context.Context, r *sdk.ListResourcesRequest) (*sdk.ListResourcesResult, error) {
	q, done := newRequest(s, ctx, r)
	defer done()

	if !q.stateless { // without sessions the roots are unknown here; a read checks them all the same
		if _, err := q.bounded(); err != nil {
			return nil, err
		}
	}

	var at cursor
	if r.Params != nil && r.Params.Cursor != "" {
		text, err := base64.RawURLEncoding.DecodeString(r.Params.Cursor)
		if err != nil || json.Unmarshal(text, &at) != nil || at.Workspace < 0 || at.Workspace >= len(s.workspaces) {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the cursor is not from this server"}
		}
	}

	out := &sdk.ListResourcesResult{Resources: []*sdk.Resource{}, Cacheable: private}
	for ; at.Workspace < len(s.workspaces); at = (cursor{at.Workspace + 1, ""}) {
		here, err := q.here(s.workspaces[at.Workspace])
		if err != nil {
			return nil, err
		}

		// One more file than fits is read, to know whether another page follows.
		room := s.page - len(out.Resources)
		found, err := here.box.Files(q.ctx, at.After, room+1)
		if err != nil {
			return nil, err
		}

		for _, f := range found[:min(room, len(found))] {
			out.Resources = append(out.Resources, here.resource(f))
			at.After = f.Path
		}

		if len(found) > room {
			text, err := json.Marshal(at)
			out.NextCursor = base64.RawURLEncoding.EncodeToString(text)
			return out, err
		}
	}
	return out, nil
}

// private keeps results out of shared caches.
var private = sdk.Cacheable{CacheScope: "private"}

// resource returns a file as an entry of the list.
func (of files) resource(f tool.File) *sdk.Resource {
	return &sdk.Resource{
		URI: of.uri(f.Path), Name: f.Path, Size: f.Info.Size(), MIMEType: mimetype.ByName(f.Path),
		Annotations: &sdk.Annotations{LastModified: f.Info.ModTime().UTC().Format(time.RFC3339)},
	}
}

// read reads a file by its URI.
func (s *Server) read(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	q, done := newRequest(s, ctx, r)
	defer done()

	uri := askedURI(ctx, r)
	if err := q.resume(r.Params.InputResponses, r.Params.RequestState, "resources/read", uri); err != nil {
		return nil, err
	}
	if known, err := q.bounded(); err != nil {
		return nil, err
	} else if !known {
		return &sdk.ReadResourceResult{InputRequests: q.asks, RequestState: q.sealed()}, nil
	}

	at, name, err := q.locate(uri)
	if err != nil {
		return nil, err
	}

	file, err := at.box.ReadFile(q.ctx, name, maxResource)
	if len(q.asks) > 0 {
		return &sdk.ReadResourceResult{InputRequests: q.asks, RequestState: q.sealed()}, nil
	}
	if err != nil {
		return nil, readError(uri, err)
	}

	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{contents(uri, file)}, Cacheable: private}, nil
}

// readError turns the error of a read into one of the protocol. A file that the policy hides does not exist.
func readError(uri string, err error) error {
	var refused *policy.Error
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.As(err, &refused):
		return sdk.ResourceNotFoundError(uri)
	case errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.EFBIG), errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ENOTDIR):
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
}

// contents returns a file as a client gets it: as text if it is text, else as bytes.
func contents(uri string, f *tool.File) *sdk.ResourceContents {
	c := &sdk.ResourceContents{URI: uri, MIMEType: mimetype.Of(f.Path, f.Data)}
	if !vfs.LooksBinary(f.Data) && utf8.Valid(f.Data) {
		c.Text = string(f.Data)
	} else {
		c.Blob = f.Data
	}
	return c
}
