package cli

import (
	"errors"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Habits maps what people type who know git, jj or restic to the commands that do that work here. A key is a word or a flag
// that does not exist, after the command that it is given to; * is any other word, and -N any digit. Each line of the
// advice is a purpose and, after the last colon, a command line.
var Habits = map[string]string{
	"add":           "store a file: vfsctl put LOCAL PATH\ntake in a directory: vfsctl import DIR",
	"abandon":       "take back what a call did: vfsctl undo --call N",
	"absorb":        "take back what a call did: vfsctl undo --call N",
	"am":            "work on the branch with a program of the host: vfsctl run -- CMD",
	"annotate":      "see which call wrote each line: vfsctl blame PATH",
	"archive":       "write a tree to an archive: vfsctl --at REF export DEST.tar.gz",
	"backout":       "take back what a call did: vfsctl undo --call N",
	"bisect":        "see what each call changed, newest first: vfsctl log -p PATH\nsee which call wrote each line: vfsctl blame PATH",
	"bookmark":      "list the branches: vfsctl branch list\nmake one: vfsctl branch create NAME",
	"bundle":        "copy the whole database: vfsctl backup DEST",
	"cat-file":      "print a file of a tree: vfsctl cat REF:PATH",
	"checkout":      "stand on a branch: vfsctl switch BRANCH\nmake one and stand on it: vfsctl switch -c NEW\nbring a file back: vfsctl restore REF:PATH",
	"cherry-pick":   "bring the changes of a branch: vfsctl merge BRANCH\nbring a file of it: vfsctl restore BRANCH:PATH",
	"clone":         "copy the whole database: vfsctl backup DEST\ntake in a git repository: vfsctl git import REPO",
	"commit":        "each command commits by itself, so name the moment: vfsctl snapshot create NAME",
	"copy":          "copy files: vfsctl cp FROM TO\ncopy the whole database: vfsctl backup DEST",
	"describe":      "name the moment: vfsctl snapshot create NAME --note TEXT",
	"dir":           "list a directory: vfsctl ls",
	"dump":          "print a file of a tree: vfsctl cat REF:PATH",
	"evolog":        "list what happened: vfsctl log",
	"exec":          "work on the branch with a program of the host: vfsctl run -- CMD",
	"fast-export":   "write a stream for git: vfsctl git export REF",
	"fast-import":   "read a stream of git: vfsctl git import -",
	"fetch":         "take in a git repository: vfsctl git import REPO\ntake in a directory: vfsctl import DIR",
	"file":          "print a file of a tree: vfsctl cat REF:PATH\nlist the files of a tree: vfsctl ls -R REF:",
	"forget":        "forget old snapshots: vfsctl snapshot prune --keep-last N\ngive back their space: vfsctl gc",
	"format-patch":  "see what each call changed: vfsctl log -p",
	"fsck":          "look for damage: vfsctl check",
	"history":       "list what happened: vfsctl log",
	"ls-files":      "list all files: vfsctl ls -R",
	"ls-tree":       "list the files of a tree: vfsctl ls -R REF:",
	"new":           "name the moment: vfsctl snapshot create NAME\nfork a tree and stand there: vfsctl switch -c NEW REF",
	"notes":         "name the moment: vfsctl snapshot create NAME --note TEXT",
	"op":            "list what happened: vfsctl log\ntake back the last call: vfsctl undo\ngo back to a moment: vfsctl restore REF",
	"patch":         "work on the branch with a program of the host: vfsctl run -- CMD",
	"prune":         "forget old snapshots: vfsctl snapshot prune --keep-last N\ngive back their space: vfsctl gc",
	"pull":          "take in a git repository: vfsctl git import REPO\nbring the changes of a branch: vfsctl merge BRANCH",
	"push":          "go on to git: vfsctl git export REF\nbring changes into a directory: vfsctl apply BRANCH DIR",
	"rebase":        "bring a branch up to date with its base: vfsctl branch update NAME",
	"recover":       "name what is damaged: vfsctl check\nsave the rest: vfsctl export --partial DEST",
	"reflog":        "list what happened: vfsctl log",
	"remote":        "go on to git: vfsctl git export REF\ncopy the whole database: vfsctl backup DEST",
	"repair":        "name what is damaged: vfsctl check\nsave the rest: vfsctl export --partial DEST",
	"reset":         "go back to a snapshot or a moment: vfsctl restore REF\ntake back the last call: vfsctl undo",
	"rev-list":      "list what happened: vfsctl log",
	"rev-parse":     "see how a tree or a moment is named: vfsctl refs",
	"revert":        "take back what a call did: vfsctl undo --call N\nbring a file back: vfsctl restore REF:PATH",
	"search":        "search contents: vfsctl grep PATTERN\nsearch names: vfsctl find PATTERN",
	"serve":         "serve the files to agents: vfsctl mcp\nserve them to file managers: vfsctl webdav REF",
	"shortlog":      "list what happened: vfsctl log",
	"snapshots":     "list the snapshots: vfsctl snapshot list",
	"split":         "see what each call changed: vfsctl log -p",
	"squash":        "each command commits by itself, so name the moment: vfsctl snapshot create NAME",
	"st":            "see where you stand: vfsctl status\nsee what has changed: vfsctl diff",
	"stash":         "name the state: vfsctl snapshot create NAME\ngo back to it later: vfsctl restore NAME\nor work aside: vfsctl switch -c NEW",
	"stats":         "see what the database takes: vfsctl df\nsee what it is: vfsctl info",
	"tag":           "name the moment: vfsctl snapshot create NAME\nlist the names: vfsctl snapshot list",
	"tar":           "write an archive: vfsctl export DEST.tar.gz\ntake one in: vfsctl import FILE.tar.gz",
	"umount":        "end a mount: umount DIR",
	"unmount":       "end a mount: umount DIR",
	"unzip":         "take in an archive: vfsctl import FILE.zip",
	"vacuum":        "give back space: vfsctl gc\nstore contents in less: vfsctl compact",
	"verify":        "look for damage, and hash every chunk: vfsctl check",
	"version":       "print the version: vfsctl --version",
	"whatchanged":   "see what each call changed: vfsctl log -p",
	"workspace":     "make a branch: vfsctl branch create NAME\nsee it as a directory: vfsctl mount BRANCH DIR",
	"worktree":      "make a branch: vfsctl branch create NAME\nsee it as a directory: vfsctl mount BRANCH DIR",
	"zip":           "write an archive: vfsctl export DEST.zip",
	"filter-branch": "see what a purge would remove: vfsctl purge PATH --everywhere --dry-run\nremove it from all of history, for good: vfsctl purge PATH --everywhere --yes",
	"filter-repo":   "see what a purge would remove: vfsctl purge PATH --everywhere --dry-run\nremove it from all of history, for good: vfsctl purge PATH --everywhere --yes",
	"rewrite":       "see what a purge would remove: vfsctl purge PATH --everywhere --dry-run\nremove it from all of history, for good: vfsctl purge PATH --everywhere --yes",
	"scrub":         "see what a purge would remove: vfsctl purge PATH --everywhere --dry-run\nremove it from all of history, for good: vfsctl purge PATH --everywhere --yes",
	"cd":            "go to a directory, with relative paths: vfsctl shell",
	"--no-pager":    "print without a pager: vfsctl diff -p REF | cat",
	"--no-color":    "print without colours: vfsctl diff -p REF --color never",

	"branch *":              "make a branch: vfsctl branch create NAME",
	"branch -a":             "list the branches: vfsctl branch list",
	"branch -d":             "delete a branch: vfsctl branch delete NAME",
	"branch -D":             "delete a branch: vfsctl branch delete NAME",
	"branch -l":             "list the branches: vfsctl branch list",
	"branch -m":             "rename a branch: vfsctl branch rename OLD NEW",
	"branch -r":             "list the branches: vfsctl branch list",
	"branch -v":             "list the branches: vfsctl branch list",
	"branch --all":          "list the branches: vfsctl branch list",
	"branch --delete":       "delete a branch: vfsctl branch delete NAME",
	"branch --list":         "list the branches: vfsctl branch list",
	"branch --show-current": "see where you stand: vfsctl status",
	"branch checkout":       "stand on a branch: vfsctl switch BRANCH",
	"branch diff":           "compare two trees: vfsctl diff A B",
	"branch merge":          "bring the changes of a branch: vfsctl merge BRANCH",
	"branch move":           "rename a branch: vfsctl branch rename OLD NEW",
	"branch switch":         "stand on a branch: vfsctl switch BRANCH",

	"snapshot *":      "name the moment: vfsctl snapshot create NAME",
	"snapshot diff":   "compare two trees: vfsctl diff A B",
	"snapshot forget": "forget a snapshot: vfsctl snapshot delete NAME\nforget old ones: vfsctl snapshot prune --keep-last N",
	"snapshot remove": "forget a snapshot: vfsctl snapshot delete NAME",

	"git clone":       "take in a repository: vfsctl git import REPO",
	"git fast-export": "write a stream for git: vfsctl git export REF",
	"git fast-import": "read a stream of git: vfsctl git import -",
	"git fetch":       "take in a repository: vfsctl git import REPO",
	"git diff":        "see what has changed: vfsctl diff REF",
	"git log":         "list what happened: vfsctl log",
	"git status":      "see where you stand: vfsctl status\nsee what has changed: vfsctl diff REF",
	"git pull":        "take in a repository: vfsctl git import REPO",
	"git push":        "write a stream for git: vfsctl git export REF",

	"blame -L":                  "see which call wrote each line: vfsctl blame PATH",
	"check --read-data":         "every chunk is read already: vfsctl check",
	"diff --cached":             "each command commits by itself, so see what changed since a moment: vfsctl diff -p REF",
	"diff --color-words":        "see changes by word: vfsctl diff --word REF",
	"diff --from":               "compare two trees: vfsctl diff -p A B",
	"diff --git":                "compare two trees: vfsctl diff -p A B",
	"diff --name-status":        "see the paths and how each differs: vfsctl diff REF",
	"diff --numstat":            "count the changed lines: vfsctl diff --stat REF",
	"diff --shortstat":          "count the changed lines: vfsctl diff --stat REF",
	"diff --staged":             "each command commits by itself, so see what changed since a moment: vfsctl diff -p REF",
	"diff --summary":            "see the paths and how each differs: vfsctl diff REF",
	"diff --word-diff":          "see changes by word: vfsctl diff --word REF",
	"diff -w":                   "see changes by word: vfsctl diff --word REF",
	"find --name":               "find files by name: vfsctl find PATTERN",
	"find -n":                   "find files by name: vfsctl find PATTERN",
	"init *":                    "take in a directory: vfsctl import DIR\nmake an empty database: vfsctl --db FILE init",
	"log --author":              "see the calls of an actor: vfsctl log --actor NAME",
	"log --committer":           "see the calls of an actor: vfsctl log --actor NAME",
	"log --grep":                "see the calls of a tool: vfsctl log --tool NAME\nsearch contents: vfsctl grep PATTERN",
	"log --follow":              "renames are followed already: vfsctl log PATH",
	"log --oneline":             "one line each is what it prints: vfsctl log",
	"log -G":                    "search contents: vfsctl grep PATTERN\nsee which call wrote each line: vfsctl blame PATH",
	"log -N":                    "bound the number: vfsctl log -n N",
	"log -S":                    "search contents: vfsctl grep PATTERN\nsee which call wrote each line: vfsctl blame PATH",
	"log -r":                    "see the log of a branch: vfsctl --branch NAME log",
	"merge --abort":             "take the merge back: vfsctl undo",
	"merge --continue":          "list the conflicts: vfsctl conflicts\ndecide one: vfsctl resolve PATH --take theirs",
	"merge --ff-only":           "let main become what a branch is: vfsctl branch adopt NAME",
	"merge --no-ff":             "every merge is one commit: vfsctl merge BRANCH",
	"merge --squash":            "every merge is one commit: vfsctl merge BRANCH",
	"merge -m":                  "name the moment after the merge: vfsctl snapshot create NAME --note TEXT",
	"restore --from":            "bring a file back: vfsctl restore REF:PATH",
	"restore --include":         "write a part of a tree to a directory: vfsctl --at REF export PATH DEST",
	"restore --source":          "bring a file back: vfsctl restore REF:PATH",
	"restore --staged":          "each command commits by itself, so bring a file back: vfsctl restore REF:PATH",
	"restore --target":          "write a tree to a directory: vfsctl --at REF export DEST",
	"restore -s":                "bring a file back: vfsctl restore REF:PATH",
	"restore -t":                "write a tree to a directory: vfsctl --at REF export DEST",
	"show -p":                   "the patch is there already: vfsctl show CALL",
	"snapshot create --message": "keep a text with it: vfsctl snapshot create NAME --note TEXT",
	"snapshot create --tag":     "keep a text with it: vfsctl snapshot create NAME --note TEXT",
	"snapshot create -m":        "keep a text with it: vfsctl snapshot create NAME --note TEXT",
	"snapshot prune --prune":    "give back the space: vfsctl gc",
	"status --porcelain":        "see what has changed: vfsctl diff",
	"status --short":            "see what has changed: vfsctl diff",
	"status -s":                 "see what has changed: vfsctl diff",
	"switch -b":                 "make a branch and stand on it: vfsctl switch -c NEW",
	"undo *":                    "take back one call: vfsctl undo --call N",
}

// habit returns the advice about a word or a flag that a command does not know, or "".
func habit(cmd *cobra.Command, slip string) string {
	below := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name())
	return Habits[strings.TrimSpace(below+" "+slip)]
}

// flagHabit returns the advice about the flag that an error says a command does not have, or "".
func flagHabit(cmd *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedName() == "" {
		return ""
	}

	slip := "--" + unknown.GetSpecifiedName()
	if unknown.GetSpecifiedShortnames() != "" {
		slip = slip[1:]
		if unicode.IsDigit(rune(slip[1])) {
			slip = "-N"
		}
	}
	if advice := habit(cmd, slip); advice != "" {
		return advice
	}
	return Habits[slip]
}
