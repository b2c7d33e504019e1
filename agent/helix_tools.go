package agent

// helixFiles are the tools over files.
func helixFiles() []*Tool {
	return []*Tool{
		viewing("read_file", `Read lines of a text file, and its sum. An image is shown.`,
			reads, readFile, titled("Read file")),
		viewing("read_many", `Read several files at one moment.`,
			reads, readMany, titled("Read files"), somePartial),
		changing("write_file", `Create or replace a file, and missing directories. To change a part, use edit_file.`,
			puts, writeFile, titled("Write file"), idempotent, sequential),
		changing("write_many", `Write several files: all or none.`,
			puts, writeMany, titled("Write files"), idempotent, sequential),
		changing("edit_file", `Replace text in a file. Returns the changed lines and the new sum.`,
			writes, editFile, titled("Edit file"), sequential),
		changing("insert_lines", `Insert lines before a line.`,
			writes, insertLines, titled("Insert lines"), additive, sequential),
		changing("append_file", `Add text at the end of a file, or create it.`,
			puts, appendFile, titled("Append to file"), additive, sequential),
		viewing("ls", `List a directory, with sizes.`,
			lists, ls, titled("List directory")),
		viewing("tree", `Show what is below a directory, indented.`,
			lists, tree, titled("Show tree")),
		viewing("glob", `Find paths by a pattern.`,
			lists, glob, titled("Match paths")),
		viewing("find", `Find by name and type.`,
			lists, find, titled("Find by name")),
		viewing("grep", `Search contents for lines that match.`,
			reads, grep, titled("Search contents")),
		viewing("stat", `Type, size, time, mode and sum.`,
			lists, stat, titled("Describe"), structured),
		changing("mkdir", `Make a directory.`,
			creates, mkdir, titled("Make directory")),
		changing("rm", `Remove a file or an empty directory.`,
			removes, rm, titled("Remove")),
		changing("mv", `Move or rename.`,
			writes, mv, titled("Move")),
		changing("cp", `Copy a file or directory; takes no space.`,
			writes, cp, titled("Copy")),
		changing("apply", `Several changes in one step: all or none.`,
			writes, apply, titled("Apply changes"), sequential, resultsAreObjects),
	}
}

// somePartial says that a file in the output of read_many may have no more than its path, and an error.
func somePartial(t *Tool) { t.Output.Properties["files"].Items.Required = []string{"path"} }

// helixHistory are the tools over snapshots and branches.
func helixHistory() []*Tool {
	return []*Tool{
		steering("snapshot", `Name this moment of the whole workspace, to come back to.`,
			freezes, takeSnapshot, titled("Take snapshot"), structured),
		steering("restore", `Bring the whole workspace back to a snapshot, by ref or name. Its ref undo takes that back.`,
			rewrites, restoreTo, titled("Restore"), structured),
		steering("list_snapshots", `List snapshots, oldest first.`,
			looks, listSnapshots, titled("List snapshots"), structured),
		steering("delete_snapshot", `Delete a snapshot, by ref or name; files stay.`,
			forgets, deleteSnapshot, titled("Delete snapshot")),
		steering("branch", `Fork the workspace and go on there: later calls are of the new branch. The one you leave stays as it is.`,
			freezes, makeBranch, titled("Fork"), sequential, structured),
		steering("diff", `Which paths differ between two refs or names; to defaults to now.`,
			looks, diffMoments, titled("Compare"), structured),
		steering("log", `What was changed, when and by whom, newest first.`,
			looks, showLog, titled("Show log"), needs(PermSnapshot, PermList)),
		steering("blame", `Which change each line of a file is from.`,
			looks, showBlame, titled("Blame"), needs(PermSnapshot, PermRead)),
		steering("list_branches", `List branches.`,
			looks, listBranches, titled("List branches"), structured),
	}
}
