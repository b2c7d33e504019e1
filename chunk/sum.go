package chunk

import (
	"encoding/hex"
	"fmt"
	"syscall"

	"github.com/zeebo/blake3"

	"vfsdb/schema"
)

// A Sum is the BLAKE3-256 of a chunk, or for longer content, the sum of its manifest.
type Sum [32]byte

// SumOf returns the sum of one chunk, the same that b3sum prints.
func SumOf(p []byte) Sum { return blake3.Sum256(p) }

// ParseSum reads a sum written by String: 64 hexadecimal digits. Anything else is EINVAL.
func ParseSum(text string) (Sum, error) {
	var s Sum
	err := s.UnmarshalText([]byte(text))
	return s, err
}

// String returns the sum as 64 hexadecimal digits.
func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// IsZero reports whether s is the zero Sum, which no content that anybody will ever find has.
func (s Sum) IsZero() bool { return s == Sum{} }

// MarshalText is String, for JSON and its kin.
func (s Sum) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, s[:]), nil }

// UnmarshalText is ParseSum, for JSON and its kin.
func (s *Sum) UnmarshalText(text []byte) error {
	var read Sum
	if len(text) != hex.EncodedLen(len(read)) {
		return fmt.Errorf("sum of %d digits: %w", len(text), syscall.EINVAL)
	}
	if _, err := hex.Decode(read[:], text); err != nil {
		return fmt.Errorf("sum %q: %w", text, syscall.EINVAL)
	}
	*s = read
	return nil
}

// scan reads a sum from a column, and reports whether there is one: a value of another length is none.
func (s *Sum) scan(rows *schema.Rows, col int) bool {
	return rows.Len(col) == len(s) && rows.Read(col, s[:]) == len(s)
}
