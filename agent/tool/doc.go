// Package tool is the base of all tools of agents: it defines them, checks each call against the policy, shapes
// results, and logs calls. A [Profile] names the tools of one family of agents. The packages below agent/profile have
// one each, and [vfsdb/agent/profile/claude] has three.
//
//	box, err := tool.New(fsys, &tool.Config{Profile: helix.Profile, Policy: &policy.Policy{Paths: []string{"/work"}}})
//	for _, t := range box.Tools() { ... }                    // name, description, JSON schema, hints: for the model
//	result := box.Call(ctx, "workspace_edit_file", input)    // JSON in; result.Text is what the model reads
//
// # The guard
//
// A tool is defined by [View], [Change] or [Steer]. The first two run in one transaction, which the tool sees as a
// [Guard]: a set of verbs. Each verb resolves its path in that transaction and asks the [policy.Policy] about the
// result before it goes there. So a tool happens whole, or not at all, and no symlink leads around the policy. Tools
// that work on the branch as a whole, such as snapshot and restore, have transactions of their own.
//
// # The position
//
// Tools work at a [Position], which is on a branch. A tool that forks the branch moves it, and all later calls are on
// the new branch. Moves wait for writes, so the fork has all that was written before it.
//
// # The record
//
// Each change names its call, in the same commit. Package record adds a row about the call itself to the store's log
// soon after; no call waits for it. [metrics.Calls] count calls, and [hooks.Hooks] get an event for each. A hook cannot
// hold up a call.
//
// # What models get wrong
//
// A read of a file gives its sum, and every tool that writes takes it as ifSum, so a change that came in between is
// never lost: the write is refused, and the model reads again. Results are capped, and say so.
//
// # What models must not trust
//
// A file may hold instructions, and so may its name or the target of a symlink. The rule is one for all tools of a
// profile, and is applied in one place, behind the tools.
//
// Helix has tags. In the text of a result, all that comes from the store (contents, names, targets, notes) stands
// inside <workspace_tool_result untrusted="true" ...>. Outside of them are lines of our own words: numbers, sums,
// advice. The reason of an error quotes names, so it is inside. Advice on the next step is outside. A structured
// result cannot have tags, so its object has a field "untrusted" that is true. Nothing that comes from the store can
// pass for a tag, in either. A bracket becomes &lt; if what follows reads as a tag: in any case, with spaces,
// invisible characters or line breaks in between, or in letters that look alike. So a name that holds such a text
// cannot be used as it is shown.
//
// The formats of the other profiles are fixed by the agents that know them, and have no place for tags. They give the
// bytes as they are. Their prompts, where they have one, declare the contents of files to be data.
package tool
