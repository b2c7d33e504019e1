package textdiff_test

import (
	"fmt"
	"os"

	"vfsdb/textdiff"
)

// A patch, with its lines for the names of the files.
func Example() {
	a := textdiff.Lines([]byte("one\ntwo\nthree\n"))
	b := textdiff.Lines([]byte("one\n2\nthree\nfour\n"))

	fmt.Print("--- a/list\n+++ b/list\n")
	if err := textdiff.Unified(os.Stdout, a, b, textdiff.Compare(a, b), 1); err != nil {
		fmt.Println(err)
	}
	// Output:
	// --- a/list
	// +++ b/list
	// @@ -1,3 +1,4 @@
	//  one
	// -two
	// +2
	//  three
	// +four
}

// Two sides change different lines, and one line both. By word, that line is no conflict either.
func ExampleMerge() {
	base := []byte("title\n\nthe cat sat on the mat\n")
	ours := []byte("Title\n\nthe dog sat on the mat\n")
	theirs := []byte("title\n\nthe cat sat on the chair\n")

	m := textdiff.Merge(base, ours, theirs)
	labels := textdiff.Labels{Ours: "ours", Base: "base", Theirs: "theirs"}
	if err := textdiff.Markers(os.Stdout, m, labels, textdiff.Diff3); err != nil {
		fmt.Println(err)
	}

	m = m.Words()
	fmt.Println(m.Conflicts(), "conflicts by word")
	fmt.Printf("%s", m.Take(textdiff.Ours))
	// Output:
	// Title
	//
	// <<<<<<< ours
	// the dog sat on the mat
	// ||||||| base
	// the cat sat on the mat
	// =======
	// the cat sat on the chair
	// >>>>>>> theirs
	// 0 conflicts by word
	// Title
	//
	// the dog sat on the chair
}
