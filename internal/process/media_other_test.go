//go:build !linux

package process

const childMedia = "VFS_PROCESS_MEDIA"

func mediaChild(string, string) error { return nil }
