package run

// engines returns the ways to run a command, the best first.
func engines() []engine { return []engine{overlayEngine{}, copyEngine{}, liveEngine{}} }
