//go:build !linux

package run

import "os/exec"

// await does nothing: here a process is reaped as soon as its end is known.
func (group) await(*exec.Cmd) {}

// dieWithParent does nothing: only Linux has that.
func dieWithParent(*exec.Cmd) {}
