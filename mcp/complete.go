package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxCompletions is how many values the protocol lets an answer have.
const maxCompletions = 100

// complete helps whoever types the path of a file's URI. Anything else has no completions.
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
