package run

import "os"

// engines returns the ways to run a command, the best first.
func engines() []engine { return []engine{overlayEngine{}, copyEngine{}, liveEngine{}} }

// steps returns what a process of ours may do in place of the program's main. A step gets its input, and the report, which it
// closes once the command has started, or leaves to the exec that starts it.
func steps() map[string]func(input []byte, report *os.File) (int, error) {
	return map[string]func([]byte, *os.File) (int, error){innerStep: runInner, guardStep: runGuard}
}
