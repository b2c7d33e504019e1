// Command bench measures the store beside its alternatives, in one run on one machine:
//
//	go run ./bench                  every workload, as a table of ratios
//	go run ./bench -run stream      the workloads whose name matches
//	go run ./bench -short           small sizes: does everything work
//	go run ./bench -json            the same rows for a program, or for -from
//	go run ./bench -from run.json   print an earlier run again; -svg draws it
//	go run ./bench -pages .         and write the tables and the chart into the pages of this repository
//
// A workload races ours against its peers. In each round every side runs once, one after the other, and the next round
// starts with another side. The table shows medians over the rounds. Absolute figures depend on the machine and the
// hour; a ratio of sides that ran interleaved depends on the code, so read the ratios. A ratio is the peer's time
// divided by ours: 2x means that ours takes half as long.
//
// A row may have a goal: the least that we accept, and the value that we aim for, as `3x` of a ratio or `< 2 ms` of a
// figure. Its verdict is NO if even the least is missed, and aim if both are reached. A row without a goal is there for
// comparison with its neighbours. A peer that is not installed is shown as absent, and its row has no verdict.
//
// # Adding a workload
//
// A workload is a function of a *bench, listed in workloads. It gets a directory of its own, takes sizes from
// bench.size so that -short works, calls bench.race or bench.sample, and adds rows with their goals. versus makes a row
// with a peer, under one without.
//
//	b.add(versus("create 1 KiB", ours, "os.WriteFile", theirs, 5).aim(8), under("peak RSS", "B", used, 64<<20))
//
// A side returns only the time that counts; its preparation is outside of it. Dirty pages are written before each side
// starts. A tree that sides read is read once more before each of them, because one may let the host forget it. Peers
// on the host's file system are in host.go.
//
// A row whose peer is ours too, in another size or shape, is marked with itself. It is no rival, and drawn in grey.
// Rows for the short table are picked in pages.go, those for the bars of the repository's
// README in eight.go. Package chart draws the bars.
//
// A workload that fails does not keep the others from running, and an interrupted run shows its rows so far.
//
// The newest table is in README.md.
package main
