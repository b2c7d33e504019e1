// Package files has the commands of vfsctl that work on the files of one tree: ls, cat, put, edit, mv and their kin.
// Each file holds one command and has its name. Those that change files do it in one commit, through
// [vfsdb/cmd/vfsctl/cli.App.Update].
package files
