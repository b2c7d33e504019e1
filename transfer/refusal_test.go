package transfer

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRefusedError(t *testing.T) {
	one := &RefusedError{[]Refusal{{Path: "a\nb", Why: "because"}}}
	require.Equal(t, `"a\nb" is refused: because`, one.Error())
	many := &RefusedError{}
	for n := range 13 {
		many.Refused = append(many.Refused, Refusal{Path: fmt.Sprint(n), Why: "because", err: syscall.ELOOP})
	}
	require.Equal(t, maxNamed+2, len(strings.Split(many.Error(), "\n")))
	require.Contains(t, many.Error(), "13 entries")
	require.Contains(t, many.Error(), "and 3 more")
	require.ErrorIs(t, many, syscall.ELOOP)
	require.False(t, errors.Is(many, syscall.EIO))
}
