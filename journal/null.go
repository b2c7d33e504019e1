package journal

import (
	"vfsdb/chunk"
	"vfsdb/node"
	"vfsdb/schema"
)

// branchOrNull leaves main out, on which most changes happen.
func branchOrNull(id int64) any {
	if id == schema.FirstID {
		return nil
	}
	return id
}

func textOrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func idOrNull[ID int64 | node.Ino](id ID) any {
	if id == 0 {
		return nil
	}
	return int64(id)
}

func sumOrNull(sum *chunk.Sum) any {
	if *sum == (chunk.Sum{}) {
		return nil
	}
	return sum[:]
}

func exitOrNull(code *int) any {
	if code == nil {
		return nil
	}
	return int64(*code)
}

// scanSum reads a column that holds a sum; nil if it is NULL.
func scanSum(rows *schema.Rows, col int) *chunk.Sum {
	if rows.Null(col) {
		return nil
	}
	var sum chunk.Sum
	rows.Read(col, sum[:])
	return &sum
}
