// Package run runs a program of the host in a branch, and brings what it changed back in one commit.
//
//	cmd := run.Command(ctx, fsys, run.Options{}, "go", "test", "./...")
//	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
//	err := cmd.Run()
//	fmt.Println(cmd.Result.Changed, "paths changed")
//
// # What a run does
//
// A run freezes the branch and shows that moment to the command as its working directory. When the command has ended, the
// difference goes into the branch in one commit, whatever the exit code is. The log has the command line, the exit code, the
// duration, and the paths that changed. A command that changed nothing makes no commit, and is in the log all the same.
//
// If the branch changed while the command ran, the result is merged into it, by the rules of package merge. Files that both
// changed in different ways stay as the branch has them, and Run returns a [ConflictError]. If the branch was deleted, the
// result becomes a new branch, forked from the frozen moment, and Run returns a [MovedError] with its name. If the result
// cannot be stored, it stays on the host, and Run returns a [KeptError] with the directory. So no result is lost without an
// error. The result that is merged is a branch first, whose name begins with "run-": if the process is killed before the merge,
// that branch stays.
//
// # Engines
//
// There are three ways to show a tree as a directory. [Overlay] mounts the frozen moment through FUSE with the kernel's
// overlayfs over it, in a namespace of its own; it is the fastest, and Linux alone has it. [Copy] exports the tree into a
// cached directory, and works everywhere. [Live] mounts the branch itself, so others see each change at once, in many
// commits. [Auto] takes the first of overlay and copy that the host allows. [Probe] tries each.
//
// # Directories
//
// A run has directories on the host, each with a lock that the kernel gives up when the process dies. Every run, and [Probe],
// begins with the removal of those that nobody has locked, after an unmount where one is a live mount. So a run that is killed
// leaves nothing for longer than until the next one.
//
// # Processes
//
// The command gets the standard streams of the Cmd. If its input is the terminal of the caller, it stays in the process group of
// the caller, so job control works as in a shell. So it does with another file as its input while the caller is in the
// foreground of a terminal. Otherwise it leads a group of its own, which receives the signals, and when the command ends, the
// processes that are left in that group are killed. In the caller's group a timeout ends the command alone.
//
// By overlay all processes that the command has started end with it. By live Run waits for those that are left in the tree,
// see Options.Left.
//
// The variables VFS_DB and VFS_BRANCH name the store and the branch, so a vfsctl inside the command works on the store itself,
// and not on the directory.
package run
