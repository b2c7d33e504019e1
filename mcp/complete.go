package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxCompletions bounds the values of an answer, as the protocol does.
const maxCompletions = 100

// complete suggests paths for the template of a workspace. Other arguments have no completions.
func (s *Server) complete(ctx context.Context, r *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	out := &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{}}}
	if r.Params.Ref.Type != "ref/resource" || r.Params.Argument.Name != "path" {
		return out, nil
	}

	q, done := newRequest(s, ctx, r)
	defer done()
	for _, w := range s.workspaces {
		if r.Params.Ref.URI != w.base+"{+path}" {
			continue
		}

		at, _, err := q.locate(w.base)
		if err != nil {
			return nil, err
		}
		paths, more, err := at.box.Complete(q.ctx, r.Params.Argument.Value, maxCompletions)
		if err != nil {
			return nil, err
		}
		out.Completion.Values = append(out.Completion.Values, paths...)
		out.Completion.HasMore = more
	}
	return out, nil
}
