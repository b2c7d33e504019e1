// Package agentkit has what tests of the rooms for agents share: tools over a store of a test, calls of them, golden
// files of what they tell, and metrics that count.
package agentkit
