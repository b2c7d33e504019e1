// Package branches has the verbs of tools about whole branches: what happened in them, how they differ, how they come
// together, and how a call is taken back. A profile calls them from tools that [tool.Steer] defines.
//
// Each verb takes the [tool.History] of its call, which is the branch where the tools stand, and asks the policy through it:
// [tool.History.Moment] refuses branches that are not granted, [tool.History.Approve] asks for approval, and
// [tool.History.MayChange] judges every path that would change. A verb shows only paths that the policy shows.
package branches
