package main

import "os"

// A keeper is a program with which people keep trees. In its commands {src} is the tree, {dir} a directory of the
// keeper's own, {out} an empty one, and {round} the number of the round. No option makes a keeper less careful than it
// is by default.
type keeper struct {
	name  string
	floor float64 // of the ratio of a first import
	aim   float64
	begin [][]string // makes its repository in {dir}, before the time counts
	take  [][]string // takes the tree in
	again [][]string // takes it in once more; nil if it can only start over
	give  [][]string // writes the tree of the first take into {out}, where it runs; nil if another program does that
	gives string     // the name of that command
	env   []string
	loose bool // it leaves the sync of its files to the host
}

// keepers are the programs that an import and an export are compared with.
var keepers = []keeper{
	{
		name: "cp -r", floor: 1, aim: 2, loose: true,
		take:  [][]string{{"cp", "-r", "{src}", "{dir}/copy"}},
		again: [][]string{{"cp", "-ruT", "{src}", "{dir}/copy"}},
		give:  [][]string{{"cp", "-r", "{dir}/copy", "{out}"}},
		gives: "cp -r",
	},
	{
		name: "rsync -a", loose: true,
		take:  [][]string{{"rsync", "-a", "{src}/", "{dir}/copy"}},
		again: [][]string{{"rsync", "-a", "{src}/", "{dir}/copy"}},
	},
	{
		name: "tar", loose: true,
		take:  [][]string{{"tar", "-cf", "{dir}/copy.tar", "-C", "{src}", "."}},
		give:  [][]string{{"tar", "-xf", "{dir}/copy.tar"}},
		gives: "tar -x",
	},
	{
		name:  "sqlite3 -A",
		take:  [][]string{{"sqlite3", "{dir}/copy.db", "-A", "-c", "-C", "{src}", "."}},
		again: [][]string{{"sqlite3", "{dir}/copy.db", "-A", "-u", "-C", "{src}", "."}},
		give:  [][]string{{"sqlite3", "{dir}/copy.db", "-A", "-x"}},
		gives: "sqlite3 -A -x",
	},
	{
		name: "git add+commit", floor: 2, aim: 5,
		begin: [][]string{{"git", "init", "-q", "{dir}/r"}},
		take:  gitTakes,
		again: gitTakes,
		give:  [][]string{{"git", "--git-dir={dir}/r/.git", "--work-tree={out}", "checkout", "-q", "-f", "HEAD", "--", "."}},
		gives: "git checkout",
		env:   []string{"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1"},
	},
	{
		name: "restic backup", floor: 2, aim: 5,
		begin: [][]string{{"restic", "-q", "-r", "{dir}/r", "init"}},
		take:  resticTakes,
		again: resticTakes,
		give:  [][]string{{"restic", "-q", "-r", "{dir}/r", "--cache-dir", "{dir}/cache", "restore", "latest", "--target", "{out}"}},
		gives: "restic restore",
		env:   []string{"RESTIC_PASSWORD=bench"},
	},
	{
		name:  "borg create",
		begin: [][]string{{"borg", "init", "-e", "none", "{dir}/r"}},
		take:  borgTakes,
		again: borgTakes,
		give:  [][]string{{"borg", "extract", "{dir}/r::{round}"}},
		gives: "borg extract",
		env:   []string{"BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK=yes"},
	},
}

var (
	// Ignored files are taken in too, and no garbage is collected.
	gitTakes = [][]string{
		{"git", "-C", "{src}", "--git-dir={dir}/r/.git", "--work-tree={src}", "add", "-A", "-f", "."},
		{
			"git", "-C", "{src}", "--git-dir={dir}/r/.git", "--work-tree={src}", "-c", "user.name=bench", "-c", "user.email=bench",
			"-c", "gc.auto=0", "commit", "-q", "-m", "{round}",
		},
	}
	resticTakes = [][]string{{"restic", "-q", "-r", "{dir}/r", "--cache-dir", "{dir}/cache", "backup", "{src}"}}
	borgTakes   = [][]string{{"borg", "create", "{dir}/r::{round}", "{src}"}}
)
