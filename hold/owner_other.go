//go:build !linux

package hold

// ownName is for systems that tell the start of a process; host and pid have to do.
func ownName() (string, bool) { return "", false }

// gone never is certain here: another process may have the pid by now, and another host the name.
func gone(string) bool { return false }
