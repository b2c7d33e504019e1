// Command bench measures the store beside what else people would use, in one run on one machine:
//
//	go run ./bench                  every workload, as a table of ratios
//	go run ./bench -run stream      those whose name matches
//	go run ./bench -short           small sizes: does everything work
//	go run ./bench -json            the same rows for a program, or for -from
//	go run ./bench -from run.json   print again what was measured before; -svg draws it
//	go run ./bench -pages .         and write the tables and the chart into the pages of this repository
//
// A workload races ours against its peers: in each round every side runs once, side by side, and the next round starts
// with another one. The table shows medians over the rounds. Absolute figures say much about the machine and the hour;
// a ratio of sides that ran interleaved says something about the code, so read those. A ratio is the peer's time
// divided by ours: 2x means that ours takes half as long.
//
// The least that we accept of a row, and what we would like, stand behind it: `3x` of a ratio, `< 2 ms` of a figure. It
// is NO if even the least is missed, and aim if both are reached. A row without either is there to be compared with its
// neighbours. A peer that is not installed is named as absent, and its row has no verdict.
//
// # Adding a workload
//
// A workload is a function of a *bench, listed in workloads. It gets a directory of its own, takes sizes from
// bench.size so that -short works, calls bench.race or bench.sample, and adds rows: of versus, which has a peer, or of
// under, which has none, with what is wanted of them.
//
//	b.add(versus("create 1 KiB", ours, "os.WriteFile", theirs, 5).aim(8), under("peak RSS", "B", used, 64<<20))
//
// Whatever prepares a side is outside of the time that the side returns. What was written before a side is synced, and
// a tree that sides read is read once more before each, as one of them may have the host forget it. Peers on the host's
// file system are in host.go.
//
// A row whose peer is ours too, in another size or shape, says so by itself: it is no rival, and drawn in grey. Rows
// for the short table are picked in pages.go, those for the bars of the repository's README in eight.go.
//
// A workload that fails does not keep the others from running, and an interrupt shows the rows so far.
//
// The newest table is in README.md.
package main
