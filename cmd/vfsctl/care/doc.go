// Package care has the commands of vfsctl that look after the database as a whole: init, status, info, df, check, gc
// and compact. Each file holds one command and has its name.
package care
