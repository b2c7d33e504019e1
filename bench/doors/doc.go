//go:build linux

// Command doors measures the doors for programs beside the host's file system: run by overlay, and a live mount.
//
//	go run ./bench/doors                   # from the root of the repository, about two minutes a round
//	go run ./bench/doors -rounds 3 -pages .
//
// Every work is done by a child process with the tree as its working directory: this program itself, or git, go, npm and
// tar. It times its own work, so that the start of a process is not in it. A round does all works on each side in turn, on
// trees that nobody has read before. Works of a mount with few kinds of requests are also done on a floor: a file system in
// memory behind the same library and options, so what it takes is what FUSE itself costs. The floor of a run is the kernel's
// overlayfs over a copy on the host. The table shows medians over the rounds, and how often ours takes the time of the host.
// The temporary directory, where all of it happens, should be on a file system with a disk.
package main
