// Command vfsctl is the store at a shell: it looks into a database, changes what is in it, and keeps it healthy.
//
//	vfsctl [--db FILE] [--branch NAME | --at SNAPSHOT] COMMAND
//
// The database is the file that --db names, else $VFS_DB, else agent.db in the working directory or the nearest directory
// above, within the file system and below a directory that is open to all users, such as /tmp. One above that belongs to
// another user is refused. init makes one in the working directory.
//
// Commands stand on the head of the branch that --branch names, else $VFS_BRANCH, else the last switch of this user, else
// main; with --at on a snapshot, or a moment such as main@{2 hours ago}. Commands about the whole database, such as gc and
// branch list, look at --branch only. Only init, import, put, tour and mcp --create create a database.
//
// # For scripts
//
// Every command takes --json and then prints one object, or one object per line. In it times are RFC 3339 with
// nanoseconds, sizes are in bytes, modes are octal strings, and types are the words file, directory, symlink, fifo,
// socket and device. Names are bytes: one that is not UTF-8 has a path_base64 beside its path; so have targets and
// texts. The content that get and export write to standard output is no JSON, whatever the flags.
//
// Without --json a name is one line: one with control characters is quoted. Commands that list names take --print0,
// which gives the bytes of names as they are, each with a NUL behind it.
//
// What was asked for goes to standard output. Errors, what was skipped, and progress (on a terminal only) go to
// standard error. With --json that is an object per line too: its message, and if it ends the program the exit code as
// code, with a command to try where one would help.
//
//	0    done
//	1    failed; of diff: they differ; of grep: nothing matches
//	2    the command line makes no sense
//	3    partly done: what was left out is on standard error
//	10   there is no database
//	11   the database is busy
//	13   damage found, or the disk fails
//	14   conflict: what was to be changed is not what the caller believed it to be; of merge: files are in conflict
//	124  of run: the command was ended after its time; 126: it cannot be executed; 127: there is no such command
//	130  interrupted; of watch, mcp, mount and webdav, which are meant to end so, it is 0
//
// run has the exit code of its command, whatever that means there.
//
// A command that changes several files changes all of them, in one commit, or none.
//
// # Reading the source
//
// Each command is a file of its own, with the name of the command, in the room of its group in the help: files,
// history, exchange, care or doors. newRoot in root.go puts them together. The commands share cli, which opens
// the tree that a command is about and turns errors into exit codes; term, which knows terminals and JSON; and
// human, which writes sizes, times and names for people. Each command has its script in testdata/script.
package main
