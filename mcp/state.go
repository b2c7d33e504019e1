package mcp

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// In the version of the protocol without sessions a result may ask questions. The client then sends the same request
// again, with the answers and with a state from the result. The state holds the answers of earlier rounds. It is
// sealed, so a client can neither change it nor use it for another request.

// A state holds the answers of the earlier rounds of a request.
type state struct {
	Approved map[string]string `json:"approved,omitempty"`
	Roots    []string          `json:"roots,omitempty"` // URIs
	Bounded  bool              `json:"bounded,omitempty"`
}

// resume reads the answers that came with a request. about identifies the request.
func (q *request) resume(answers sdk.InputResponseMap, sealed string, about ...string) error {
	q.answers, q.about = answers, strings.Join(about, "\x00")
	if sealed == "" {
		return nil
	}
	text, mac, _ := strings.Cut(sealed, ".")
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil && hmac.Equal([]byte(mac), []byte(q.mac(text))) {
		err = json.Unmarshal(data, &q.state)
	} else {
		err = fmt.Errorf("it is not from this server, or of another request")
	}
	if err != nil {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "requestState: " + err.Error()}
	}
	return nil
}

// sealed returns the state for the next round.
func (q *request) sealed() string {
	data, err := json.Marshal(q.state)
	if err != nil {
		panic(fmt.Sprintf("encode the state: %v", err)) // it is made of strings
	}
	text := base64.RawURLEncoding.EncodeToString(data)
	return text + "." + q.mac(text)
}

// mac returns the seal of a state for this request.
func (q *request) mac(text string) string {
	h := hmac.New(sha256.New, q.server.secret[:])
	fmt.Fprintf(h, "%s\x00%s", text, q.about)
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}
