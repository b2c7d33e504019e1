// Package mountinfo reads the host's list of mounts, on Linux. It asks nothing of the processes that serve mounts, which may
// be gone.
package mountinfo
