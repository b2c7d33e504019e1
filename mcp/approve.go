package mcp

import (
	"context"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
)

// approve asks the person at the client about a use that needs approval. Only a form with a yes in its one field
// approves. A form that is accepted without an answer approves nothing: a client may send it without showing it. Nor
// does a client that cannot ask. The error names the reason.
func approve(ctx context.Context, use tool.Approval) (bool, error) {
	q := requestOf(ctx)
	if q == nil || q.can == nil || q.can.Elicitation == nil || q.can.Elicitation.Form == nil && q.can.Elicitation.URL != nil {
		return false, &tool.NotApprovedError{Why: "nobody was asked, because this client cannot ask the person who uses it"}
	}

	id := fmt.Sprintf("approve %s %s", use.Permission, use.Path)
	question := &sdk.ElicitParams{
		Mode:    "form",
		Message: fmt.Sprintf("May the agent %s %q?", verbs[use.Permission], use.Path),
		RequestedSchema: &jsonschema.Schema{
			Type: "object",
			// The field is not required. If it were, the SDK would refuse a form without it, with an error that helps
			// nobody.
			Properties: map[string]*jsonschema.Schema{
				"approve": {Type: "boolean", Title: "Approve", Description: "this use, in this call"},
			},
		},
	}

	// With a session the server asks while the call waits.
	if !q.stateless {
		answer, err := q.conn.Elicit(ctx, question)
		switch {
		case ctx.Err() != nil:
			return false, ctx.Err()
		case err != nil:
			q.server.logger.Warn("ask the person at the client", "error", err)
			return verdict("the client did not answer with a yes or a no")
		}
		return verdict(answerOf(answer))
	}

	// Without one the result asks, and the call comes again with the answer.
	if answer, ok := q.answers[id].(*sdk.ElicitResult); ok {
		if q.state.Approved == nil {
			q.state.Approved = map[string]string{}
		}
		q.state.Approved[id] = answerOf(answer)
	}
	given, ok := q.state.Approved[id]
	if !ok {
		q.ask(id, question)
		return false, errAsked
	}
	return verdict(given)
}

// approvedAnswer is the answer that approves a use. Any other answer is the reason for a refusal.
const approvedAnswer = "yes"

// answerOf returns the answer of the person at the client.
func answerOf(answer *sdk.ElicitResult) string {
	yes, answered := answer.Content["approve"].(bool)
	switch {
	case answer.Action == "accept" && yes:
		return approvedAnswer
	case answer.Action == "accept" && !answered:
		return "the form came back without an answer in its field \"approve\", which counts as no"
	case answer.Action == "cancel":
		return "the person at the client closed the question without an answer"
	}
	return "the person at the client said no"
}

// verdict turns an answer into an approval or the error of a refusal.
func verdict(answer string) (bool, error) {
	if answer == approvedAnswer {
		return true, nil
	}
	return false, &tool.NotApprovedError{Why: answer}
}

// errAsked ends a call whose result asks. The client then calls again, with the answer.
var errAsked = fmt.Errorf("the person at the client is asked: %w", tool.ErrPending)

// verbs are the permissions in the words of the question.
var verbs = map[policy.Permission]string{
	policy.List: "look at", policy.Read: "read", policy.Write: "write to", policy.Delete: "remove",
	policy.Snapshot: "take, restore or remove snapshots and branches of",
}
