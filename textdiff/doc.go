// Package textdiff compares texts and merges them: lines, hunks, and the three-way merge that is called diff3. It knows
// nothing of stores; texts are bytes in memory.
//
// # Lines
//
// A text is cut after each line feed. A carriage return belongs to its line, so a change of line ends is a change of all
// lines. A last line without a line feed is another line than the same with one. A text may hold any bytes; [Binary] guesses
// whether some are text at all, and the caller decides what that means.
//
// # Comparing
//
// [Compare] returns hunks: which lines of one text gave way to which lines of the other. They are those of git diff with its
// defaults, hunk by hunk, because people and models have read such patches all their lives. [Unified] writes them as a
// patch, which git apply and patch take. [Fields] compares within lines.
//
// The work is done in four steps, each a file:
//
//   - class: lines that both texts begin or end with need no search. Of the others, equal lines get equal numbers, and the
//     search compares only these.
//   - prune: lines that occur in one text only are changed, no search needed. A line with many equals on the other side, at
//     least about the square root of the count of lines, is taken for changed too if nearly all lines around it are.
//   - search: the algorithm of Myers in linear space finds a shortest way from one text to the other. Two guesses bound it:
//     see search.go.
//   - slide: a hunk that could stand in several places is put where a reader expects it: opposite another change, or at the
//     bounds of a block by indentation and blank lines.
//
// The bounds are git's, so that both guess in the same places. Without pruning and guesses the hunks have the fewest lines
// that are possible. Two unrelated texts of a million lines take seconds at worst, and memory in proportion to their lines.
//
// # Merging
//
// [Merge] brings together what two sides made of one base. The result is a list of regions that cover all lines of the three
// texts: lines on which the sides agree, lines that one side changed, and conflicts, with the lines of all three. A conflict
// is a value: nothing is marked in the text. [Markers] shows one as git does with diff3 or zdiff3, byte for byte, and
// [Merged.Take] resolves all for one side.
//
// Two changes conflict if they overlap or touch, unless they are the same. [Merged.Words] goes further than git: where both
// sides changed one line, it merges that line by word.
//
// Functions keep no state and change no argument. They can be called at the same time.
package textdiff
