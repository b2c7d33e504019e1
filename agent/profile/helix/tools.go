package helix

import (
	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
)

// files returns the tools for files.
func files() []*tool.Tool {
	return []*tool.Tool{
		tool.View("read_file", `Read lines of a text file, and its sum. An image is shown.`,
			tool.Reads, readFile, tool.Title("Read file")),
		tool.View("read_many", `Read several files at one moment.`,
			tool.Reads, readMany, tool.Title("Read files"), somePartial),

		tool.Change("write_file", `Create or replace a file, and missing directories. To change a part, use edit_file.`,
			tool.Puts, writeFile, tool.Title("Write file"), tool.Idempotent, tool.Sequential),
		tool.Change("write_many", `Write several files: all or none.`,
			tool.Puts, writeMany, tool.Title("Write files"), tool.Idempotent, tool.Sequential),
		tool.Change("edit_file", `Replace text in a file. Returns the changed lines and the new sum.`,
			tool.Writes, editFile, tool.Title("Edit file"), tool.Sequential),
		tool.Change("insert_lines", `Insert lines before a line.`,
			tool.Writes, insertLines, tool.Title("Insert lines"), tool.Additive, tool.Sequential),
		tool.Change("append_file", `Add text at the end of a file, or create it.`,
			tool.Puts, appendFile, tool.Title("Append to file"), tool.Additive, tool.Sequential),

		tool.View("ls", `List a directory, with sizes.`,
			tool.Lists, ls, tool.Title("List directory")),
		tool.View("tree", `Show what is below a directory, indented.`,
			tool.Lists, tree, tool.Title("Show tree")),
		tool.View("glob", `Find paths by a pattern.`,
			tool.Lists, glob, tool.Title("Match paths")),
		tool.View("find", `Find by name and type.`,
			tool.Lists, find, tool.Title("Find by name")),
		tool.View("grep", `Search contents for lines that match.`,
			tool.Reads, grep, tool.Title("Search contents")),
		tool.View("stat", `Type, size, time, mode and sum.`,
			tool.Lists, stat, tool.Title("Describe"), tool.Structured),

		tool.Change("mkdir", `Make a directory.`,
			tool.Creates, mkdir, tool.Title("Make directory")),
		tool.Change("rm", `Remove a file or an empty directory.`,
			tool.Removes, rm, tool.Title("Remove")),
		tool.Change("mv", `Move or rename.`,
			tool.Writes, mv, tool.Title("Move")),
		tool.Change("cp", `Copy a file or directory; takes no space.`,
			tool.Writes, cp, tool.Title("Copy")),
		tool.Change("apply", `Several changes in one step: all or none.`,
			tool.Writes, apply, tool.Title("Apply changes"), tool.Sequential, resultsAreObjects),
	}
}

// somePartial makes all fields but the path optional in the output of read_many: a file may have only its path and an
// error.
func somePartial(t *tool.Tool) { t.Output.Properties["files"].Items.Required = []string{"path"} }

// history returns the tools for snapshots and branches.
func history() []*tool.Tool {
	return []*tool.Tool{
		tool.Steer("snapshot", `Name this moment of the whole workspace, to come back to.`,
			tool.Freezes, takeSnapshot, tool.Title("Take snapshot"), tool.Structured),
		tool.Steer("restore", `Bring the workspace, or one path, back to a ref or name: a snapshot, main@{10 minutes ago}, @{-1} before the last call.`,
			tool.Rewrites, restoreTo, tool.Title("Restore"), tool.Structured),
		tool.Steer("list_snapshots", `List snapshots, oldest first.`,
			tool.Looks, listSnapshots, tool.Title("List snapshots"), tool.Structured),
		tool.Steer("delete_snapshot", `Delete a snapshot, by ref or name; files stay.`,
			tool.Forgets, deleteSnapshot, tool.Title("Delete snapshot")),

		tool.Steer("branch", `Fork the workspace and go on there: later calls are of the new branch. The one you leave stays as it is.`,
			tool.Freezes, makeBranch, tool.Title("Fork"), tool.Sequential, tool.Structured),

		tool.Steer("diff", `Which paths differ between two refs or names; to defaults to now.`,
			tool.Looks, diffMoments, tool.Title("Compare"), tool.Structured),
		tool.Steer("log", `What was changed, when and by whom, newest first.`,
			tool.Looks, showLog, tool.Title("Show log"), tool.Needs(policy.Snapshot, policy.List)),
		tool.Steer("blame", `Which change each line of a file is from.`,
			tool.Looks, showBlame, tool.Title("Blame"), tool.Needs(policy.Snapshot, policy.Read)),
		tool.Steer("list_branches", `List branches.`,
			tool.Looks, listBranches, tool.Title("List branches"), tool.Structured),
	}
}
