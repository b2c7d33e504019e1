package schema

// Options are the ways to open a file. The zero value opens it for reading and writing, creates it when it is missing, and
// makes each commit durable.
type Options struct {
	// ReadOnly refuses writes with EROFS and never creates the file.
	ReadOnly bool

	// MustExist makes Open fail with ENOENT where there is no file, or an empty one.
	MustExist bool

	// Relaxed leaves out the fsync of each commit. Commits survive the death of the process; a loss of power may take the
	// last commits, but never consistency.
	Relaxed bool

	// MaxReaders bounds how many connections read at once, beside the one that writes. 0 means [DefaultMaxReaders]; a
	// negative number is EINVAL. A View beyond it waits for another one to end, so a View inside another needs two.
	MaxReaders int

	immutable bool // nobody can write to the file, so SQLite needs neither a log nor locks, see openStill
}

// DefaultMaxReaders is how many reading connections there are at most, unless [Options].MaxReaders is set.
const DefaultMaxReaders = 32
