// Package mcpclients runs other implementations of the Model Context Protocol: the command line of the inspector and
// the conformance suite, which are clients, and the reference server for files. They are npm packages, pinned in
// mcp/testdata/clients with a Node that can run them:
//
//	npm ci --prefix DIR     in a copy of that directory
//	VFS_MCP_CLIENTS=DIR go test ./mcp ./cmd/vfsctl
//
// Without the variable the tests that need them are skipped. With it, a missing program is a failure. Only tests import
// this package.
package mcpclients
