package mcp

import sdk "github.com/modelcontextprotocol/go-sdk/mcp"

// SDK is the server below, for tests that connect to it in memory or add fixtures.
func SDK(s *Server) *sdk.Server { return s.sdk }
