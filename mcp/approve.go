package mcp

import (
	"context"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"vfsdb/agent"
)

// approve asks the person at the client about a use that the policy wants approved (P09). A client that cannot ask
// approves nothing.
func approve(ctx context.Context, use agent.Approval) (bool, error) {
	q := requestOf(ctx)
	if q == nil || q.can == nil || q.can.Elicitation == nil {
		return false, nil
	}
	id := fmt.Sprintf("approve %s %s", use.Permission, use.Path)
	question := &sdk.ElicitParams{
		Mode:    "form",
		Message: fmt.Sprintf("May the agent %s %q?", verbs[use.Permission], use.Path),
		RequestedSchema: &jsonschema.Schema{
			Type: "object",
			Properties: map[string]*jsonschema.Schema{
				"approve": {Type: "boolean", Title: "Approve", Description: "this use, in this call"},
			},
			Required: []string{"approve"},
		},
	}
	if q.stateless {
		if answer, ok := q.answers[id].(*sdk.ElicitResult); ok {
			if q.state.Approved == nil {
				q.state.Approved = map[string]bool{}
			}
			q.state.Approved[id] = approved(answer)
		}
		yes, ok := q.state.Approved[id]
		if !ok {
			q.ask(id, question)
			return false, errAsked
		}
		return yes, nil
	}
	answer, err := q.conn.Elicit(ctx, question)
	if err != nil {
		return false, err
	}
	return approved(answer), nil
}

// errAsked ends a call whose result asks; the client then calls again, with the answer.
var errAsked = fmt.Errorf("the person at the client is asked: %w", agent.ErrPending)

func approved(answer *sdk.ElicitResult) bool {
	yes, _ := answer.Content["approve"].(bool)
	return answer.Action == "accept" && yes
}

// verbs are the permissions as people know them.
var verbs = map[agent.Permission]string{
	agent.PermList: "look at", agent.PermRead: "read", agent.PermWrite: "write to", agent.PermDelete: "remove",
	agent.PermSnapshot: "take, restore or remove snapshots and branches of",
}
