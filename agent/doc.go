// Package agent keeps agents at work: sessions, each on a branch of its own, over the tools of package tool and the
// profiles below agent/profile.
//
//	s, err := agent.Open(agent.StoreOf(fsys), "", &agent.SessionOptions{Auto: agent.EachCall})
//	for _, t := range s.Tools() { ... }                      // name, description, JSON schema, hints: for the model
//	result := s.Call(ctx, "workspace_edit_file", input)      // JSON in; result.Text is what the model reads
//
// # Sessions
//
// A [Session] is an agent at work on a branch. Its first call opens it. A [tool.Ref] names it, and resumes it after a
// restart. If its file is moved and put back, it is opened again. Closing it waits for calls that run, up to a bound.
//
// A session can take a snapshot in the commit of each call, or of each turn. [Session.Undo] restores one. A sub-agent
// gets a fork of the branch, see [Session.Sub], and the parent may [Session.Adopt] its work: a merge, so that several
// sub-agents can work at the same time.
//
// When a tool forks the branch and moves on, the session moves with it: its ref names the new branch, and
// [SessionOptions].OnRef is called before the call returns. Undo stays on the branch. While a session is open it may look
// at the branches that it forked; a session that is resumed may look at what its policy grants.
//
// # Config files
//
// The tools and their policy can be configured in a file: see [LoadConfig] and CONFIG.md.
//
// # What this is not
//
// A policy holds for the tools. A program that has the *vfs.FS can do everything. The programs that a policy lets tools
// run are bounded by the host, not by the policy: see [policy.Programs].
package agent
