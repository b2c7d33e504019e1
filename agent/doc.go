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
// A fork goes on at the new branch: the tool branch moves all later calls there, unless it is to stay. What was written
// before the fork is in it, whatever calls run at once, and both branches may be compared and forked from then on.
//
// # Sessions
//
// A [Session] is an agent at work on a branch of its own: opened by its first call, named by a [Ref] that resumes it
// after a restart, opened again if its file was moved and put back, closed with a bound on the wait. It can take
// a snapshot in the commit of each call, or of each turn, so that [Session.Undo] is a restore. A sub-agent gets a fork
// that its parent may [Session.Adopt]. When a tool forks the branch and moves on, so does the session: its ref names the
// new branch, and [SessionOptions].OnRef hears of that before the call returns. Undo stays on the branch. What a session
// forked it may look at as long as it is open; a session that is resumed may look at what its policy grants.
//
// # What is written down
//
// What a call changes names the call, in the same commit; how the call went is added to the store's log soon after, by
// a writer that no call waits for: see [FlushLog]. [Metrics] count, [Hooks] hear, and neither can hold up a call. Which
// tools there are, under which policy, can be a file: see [LoadConfig] and CONFIG.md.
//
// # What models get wrong
//
// A read of a file gives its sum, and every tool that writes takes it as ifSum, so a change that came in between is
// never lost: the write is refused, and the model reads again. Results are capped, and say so.
//
// # What models must not trust
//
// A file may hold instructions, and so may its name or the target of a symlink. The rule is one for all tools of a
// profile, and applied in one place, behind the tools.
//
// Helix has tags. In the text of a result, all that comes from the store (contents, names, targets, notes) stands inside
// <workspace_tool_result untrusted="true" ...>. Outside of them are lines of our own words: numbers, sums, advice. Of an
// error the reason is inside, since it quotes names, and what to do next is outside. What is structured cannot have
// tags, so the object has a field "untrusted" that is true. Nothing that comes from the store can pass for a tag, in
// either: the bracket of what reads as one, in any case, with spaces, invisible characters or line breaks in between, or
// in letters that look alike, becomes &lt;. So a name that holds such a text cannot be used as it is shown.
//
// The formats of the other profiles are fixed by the agents that know them, and have no place for tags. They give the
// bytes as they are, and tell the model in their prompt, where they have one, that what files contain is data.
//
// # What this is not
//
// A policy holds for the tools of this package. A program that has the *vfs.FS can do everything, and a sandbox for
// running code is somebody else's work.
package agent
