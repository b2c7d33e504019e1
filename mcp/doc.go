// Package mcp serves trees to clients of the Model Context Protocol: agents, editors, assistants.
//
//	server, err := mcp.New(ctx, []mcp.Workspace{{FS: fsys}}, nil)
//	err = server.ServeStdio(ctx, os.Stdin, os.Stdout)
//	err = server.Close()
package mcp
