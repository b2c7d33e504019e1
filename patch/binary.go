package patch

import (
	"bytes"
	"compress/zlib"
	"fmt"
)

// digits are those of the numbers to base 85 that git writes.
const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"

// perLine is how many bytes a line of a binary patch holds.
const perLine = 52

// literal writes a content as a binary patch has it: compressed, to base 85, in lines that begin with their length.
func literal(to *bytes.Buffer, data []byte) error {
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	if _, err := z.Write(data); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}

	fmt.Fprintf(to, "literal %d\n", len(data))
	for packed.Len() > 0 {
		line := packed.Next(perLine)
		if n := len(line); n <= 26 {
			to.WriteByte('A' + byte(n-1))
		} else {
			to.WriteByte('a' + byte(n-27))
		}
		for len(line) > 0 {
			var four [4]byte
			line = line[copy(four[:], line):]
			number := uint32(four[0])<<24 | uint32(four[1])<<16 | uint32(four[2])<<8 | uint32(four[3])
			var five [5]byte
			for i := 4; i >= 0; i-- {
				five[i] = digits[number%85]
				number /= 85
			}
			to.Write(five[:])
		}
		to.WriteByte('\n')
	}
	to.WriteByte('\n')
	return nil
}
