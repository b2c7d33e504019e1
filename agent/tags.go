package agent

import (
	"fmt"
	"regexp"
	"strings"
)

const tagName = "workspace_tool_result"

// fence wraps contents of the store in tags that tell the model not to trust them (T13). A closing tag inside is made
// harmless, so that contents cannot pretend to end early.
func fence(workspace, op, ref, contents string) string {
	return fmt.Sprintf("<%s untrusted=\"true\" workspace=\"%s\" op=\"%s\" ref=\"%s\">\n%s\n</%s>",
		tagName, attribute(workspace), attribute(op), attribute(ref), closing.ReplaceAllString(contents, "&lt;/$1"), tagName)
}

// closing finds what a model might take for the closing tag, in any case and with spaces.
var closing = regexp.MustCompile(`(?i)<(?:\s|\x{200b})*/((?:\s|\x{200b})*` + tagName + `)`)

// attribute escapes the value of an attribute: XML's five, and line breaks.
func attribute(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;",
		"\n", "&#10;", "\r", "&#13;", "\t", "&#9;").Replace(s)
}
