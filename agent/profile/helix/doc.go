// Package helix is the default profile: the tools workspace_<op>, or workspace__<name>__<op> where a workspace has a
// name. They offer every verb, with sums that keep agents from overwriting each other, and snapshots and branches. In
// a result, content of the store stands inside tags that mark it as untrusted.
package helix
