// Package agent offers a tree to models as tools: what they call, what they may do, what they get back, and what is
// written down about it.
//
//	box, err := agent.New(fsys, &agent.Config{Policy: &agent.Policy{Paths: []string{"/work"}}})
//	for _, t := range box.Tools() { ... }                    // name, description, JSON schema, hints: tell the model
//	result := box.Call(ctx, "workspace_edit_file", input)    // JSON in; result.Text is what the model reads
//
// # Tools, profiles, the guard
//
// There is one core: the verbs of a guard, which is a transaction that asks the policy about every path, resolved in
// that very transaction, before it goes there. A profile names and shapes tools over these verbs for one family of
// agents, and sets their defaults; it holds no rules. A tool is one View or one Update: it happens whole, or not at
// all. Tools that work on the branch as a whole (snapshot, restore, branch, diff) have transactions of their own.
//
// # Sessions
//
// A [Session] is an agent at work on a branch of its own: opened by its first call, named by a [Ref] that resumes it
// after a restart, opened again if its file was moved and put back, closed with a bound on the wait. It can take
// a snapshot in the commit of each call, or of each turn, so that [Session.Undo] is a restore. A sub-agent gets a fork
// that its parent may [Session.Adopt].
//
// # What is written down
//
// What a call changes names the call, in the same commit; how the call went is added to the store's log soon after, by
// a writer that no call waits for: see [FlushLog]. [Metrics] count, [Hooks] hear, and neither can hold up a call. Which
// tools there are, under which policy, can be a file: see [LoadConfig] and CONFIG.md.
//
// # What models get wrong
//
// Every tool that reads tells the sum of the file, and every tool that writes takes it as ifSum, so a change that came
// in between is never lost: the write is refused, and the model told to read again. Results are capped, and say so at
// their end. Contents of files stand inside tags that mark them as untrusted, because a file may hold instructions.
//
// # What this is not
//
// A policy holds for the tools of this package. A program that has the *vfs.FS can do everything, and a sandbox for
// running code is somebody else's work.
package agent
