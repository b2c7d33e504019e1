// Package nodejs words errors as Node does: a code, a reason, a system call and a path. Two profiles stand for tools that
// are written for Node.
package nodejs
