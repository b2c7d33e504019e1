package lanes_test

import (
	"fmt"

	"vfsdb/cmd/vfsctl/lanes"
)

func ExampleDrawer() {
	var d lanes.Drawer[string]
	for _, n := range []struct {
		name    string
		parents []string
	}{
		{"merge", []string{"main", "try"}},
		{"try", []string{"base"}},
		{"main", []string{"base"}},
		{"base", nil},
	} {
		head, tail := d.Node(n.name, n.parents...)
		fmt.Println(head + n.name)
		for _, line := range tail {
			fmt.Println(line)
		}
	}
	// Output:
	// *   merge
	// |\
	// | * try
	// * | main
	// |/
	// * base
}
