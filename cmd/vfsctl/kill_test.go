package main

const killChild = "VFS_KILL_CHILD"

func runKillChild() int { return 0 }
