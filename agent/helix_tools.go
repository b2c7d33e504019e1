package agent

// helixFiles are the tools over files.
func helixFiles() []*Tool {
	return []*Tool{
		viewing("read_file", `Read a text file, or some lines of it. Returns the text and the file's sum. Binary files are not dumped; an image is shown.`,
			reads, readFile, titled("Read file")),
		viewing("read_many", `Read several files at one moment. A file that cannot be read has an error in its place.`,
			reads, readMany, titled("Read files"), somePartial),
		changing("write_file", `Create a file, or replace its whole content. Missing directories are made. To change a part of a file, edit_file is better. Pass ifSum to be sure that nobody changed the file after you read it.`,
			puts, writeFile, titled("Write file"), idempotent, sequential),
		changing("write_many", `Create or replace several files in one step: all of them, or none.`,
			puts, writeMany, titled("Write files"), idempotent, sequential),
		changing("edit_file", `Replace text in a file. oldText has to occur exactly once; give count or all for more. With edits, several replacements happen in one step, or none. Returns the changed lines and the new sum.`,
			writes, editFile, titled("Edit file"), sequential),
		changing("insert_lines", `Insert lines before a line of a file; the first line is 1.`,
			writes, insertLines, titled("Insert lines"), additive, sequential),
		changing("append_file", `Add text at the end of a file, which is created if it is not there. Appends of several writers follow each other whole.`,
			puts, appendFile, titled("Append to file"), additive, sequential),
		viewing("ls", `List a directory: names, types and sizes.`,
			lists, ls, titled("List directory")),
		viewing("tree", `Show a directory and what is below it, as an indented list.`,
			lists, tree, titled("Show tree")),
		viewing("glob", `Find paths by a pattern such as **/*.go. Returns paths, sorted.`,
			lists, glob, titled("Match paths")),
		viewing("find", `Find files and directories by name and type.`,
			lists, find, titled("Find by name")),
		viewing("grep", `Search the contents of files for a regular expression. Returns the matching lines, and which files were not searched.`,
			reads, grep, titled("Search contents")),
		viewing("stat", `Describe a file or directory: type, size, time, mode, sum.`,
			lists, stat, titled("Describe"), structured),
		changing("mkdir", `Make a directory.`,
			creates, mkdir, titled("Make directory")),
		changing("rm", `Remove a file or an empty directory; with recursive a directory and all in it.`,
			removes, rm, titled("Remove")),
		changing("mv", `Move or rename a file or directory. It fails if the destination exists, unless overwrite is set: then a file is replaced, and a directory merged.`,
			writes, mv, titled("Move")),
		changing("cp", `Copy a file or directory. It fails if the destination exists, unless overwrite is set: then a file is replaced, and a directory merged. A copy takes no space.`,
			writes, cp, titled("Copy")),
		changing("apply", `Do several changes in one step: all of them, or none if one fails.`,
			writes, apply, titled("Apply changes"), sequential, resultsAreObjects),
	}
}

// somePartial says that a file in the output of read_many may have no more than its path, and an error.
func somePartial(t *Tool) { t.Output.Properties["files"].Items.Required = []string{"path"} }

// helixHistory are the tools over snapshots and branches.
func helixHistory() []*Tool {
	return []*Tool{
		steering("snapshot", `Name this moment of the whole workspace, to come back to. It costs next to nothing.`,
			freezes, takeSnapshot, titled("Take snapshot"), structured),
		steering("restore", `Make the whole workspace what it was at a snapshot. What it is now is kept as the ref undo.`,
			rewrites, restoreTo, titled("Restore"), structured),
		steering("list_snapshots", `List the snapshots of this workspace, oldest first.`,
			looks, listSnapshots, titled("List snapshots"), structured),
		steering("delete_snapshot", `Delete a snapshot of this workspace. The files of the workspace stay as they are.`,
			forgets, deleteSnapshot, titled("Delete snapshot")),
		steering("branch", `Fork the workspace and go on there: a new branch starts as this one is now, or was at a snapshot, and later calls are of it. The branch you leave stays as it is. With stay you remain on it.`,
			freezes, makeBranch, titled("Fork"), sequential),
		steering("diff", `Tell which paths differ between two moments of the workspace.`,
			looks, diffMoments, titled("Compare"), structured),
	}
}
