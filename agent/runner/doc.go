// Package runner lets tools of agents run programs, with the engines of package run.
//
//	config := &tool.Config{Policy: p, Programs: runner.Run}
//
// The policy has to grant programs too, see [vfsdb/agent/policy.Programs].
package runner
