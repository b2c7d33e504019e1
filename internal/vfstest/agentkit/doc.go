// Package agentkit is shared by the tests of the rooms for agents: tools over the store of a test, calls of them,
// golden files of their results, and metrics that count.
package agentkit
