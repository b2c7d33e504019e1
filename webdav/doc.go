// Package webdav serves a tree over WebDAV, so that file managers and editors can open a branch or a snapshot.
//
//	l, err := webdav.Listen(ctx, "127.0.0.1:8080")
//	err = webdav.Serve(ctx, l, fsys, nil)
//
// The protocol is that of golang.org/x/net/webdav. This package gives it a tree:
//
//   - A GET reads one frozen content, and its ETag is the sum of that content. A PUT stores the stream and names it in one
//     commit at the end, so a broken upload changes nothing. A COPY shares content. A COPY or a MOVE is one commit,
//     which also removes the file or directory that it replaces.
//   - Overwrite: F keeps what is at the new name, also what others make there during the request.
//   - If-None-Match: * and If-Match with one ETag make a PUT a compare-and-set.
//   - Dead properties are stored with the file. Locks are held by the process that serves, and end with it. The lock of a
//     path holds for the file that the path leads to, so a symlink is no way around it.
//   - The answer to PROPFIND with an infinite depth is 403: symlinks can make a small tree look endless.
//   - A client that neither sends nor reads for two minutes, in the middle of a request, loses its connection. The time of
//     a whole request has no bound.
//
// # Access
//
// There is no password, so every program of this machine may use the door while it is open. Listen refuses addresses that
// other machines could reach. A request must name the loopback as its host, and one that a browser sends for a page of
// another site is refused. Pages that are stored in the tree run no scripts, because they are sent with a sandbox.
package webdav
