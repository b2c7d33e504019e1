package snapshot

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var refNow = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func TestParseRef(t *testing.T) {
	at := func(text string) time.Time {
		parsed, err := time.Parse(time.DateTime, text)
		require.NoError(t, err)
		return parsed
	}
	for text, want := range map[string]Ref{
		"main":                     {Name: "main"},
		"main@v1":                  {Name: "main@v1"},
		"main@{-3}":                {Name: "main", Back: 3},
		"@{-1}":                    {Back: 1},
		"@{ -2 }":                  {Back: 2},
		"main@v1@{call 71}":        {Name: "main@v1", Call: 71},
		"a@{2 hours ago}":          {Name: "a", Time: at("2026-11-23 10:00:00")},
		"a@{1 second ago}":         {Name: "a", Time: at("2026-11-23 11:59:59")},
		"a@{30 minutes ago}":       {Name: "a", Time: at("2026-11-23 11:30:00")},
		"a@{1 day ago}":            {Name: "a", Time: at("2026-11-22 12:00:00")},
		"a@{2 weeks ago}":          {Name: "a", Time: at("2026-11-09 12:00:00")},
		"a@{1 month ago}":          {Name: "a", Time: at("2026-10-23 12:00:00")},
		"a@{1 year ago}":           {Name: "a", Time: at("2025-11-23 12:00:00")},
		"a@{2026-11-22T10:00:00Z}": {Name: "a", Time: at("2026-11-22 10:00:00")},
		"a@{2026-11-22 10:00}":     {Name: "a", Time: at("2026-11-22 10:00:00")},
		"a@{2026-11-22}":           {Name: "a", Time: at("2026-11-22 00:00:00")},
		"a@{open":                  {Name: "a@{open"},
		strings.Repeat("x", 300) + "@{ call  7 }": {Name: strings.Repeat("x", 300), Call: 7},
	} {
		got, err := ParseRef(text, refNow)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{
		"a@{}", "a@{soon}", "a@{-0}", "a@{-}", "a@{--1}", "a@{-+1}", "a@{-2147483648}", "a@{call +1}", "a@{@9223372036854775807}", "a@{3}", "a@{call}", "a@{call 0}", "a@{call -1}", "a@{2 fortnights ago}",
		"a@{-1 days ago}", "a@{99999999999999999999 days ago}", "a@{2027-01-01}", "a@{2026-13-01}",
	} {
		_, err := ParseRef(text, refNow)
		require.ErrorIs(t, err, syscall.EINVAL, text)
		require.ErrorContains(t, err, text)
	}
}

func TestCutPath(t *testing.T) {
	for text, want := range map[string][][2]string{
		"f":                  nil,
		"d/a:b":              nil,
		":f":                 nil,
		"main:":              {{"main", ""}},
		"main:d/a:b":         {{"main", "d/a:b"}},
		"a:b:c":              {{"a", "b:c"}, {"a:b", "c"}},
		"a@{10:00}:x":        {{"a@{10:00}", "x"}},
		"a@{2026/11/22}:x:y": {{"a@{2026/11/22}", "x:y"}, {"a@{2026/11/22}:x", "y"}},
		"a@{10:00":           nil,
		"a{b:c":              {{"a{b", "c"}},
	} {
		require.Equal(t, want, cutPath(text), text)
	}
}

// No text makes the parsers fail in another way than by an error, and what they cut fits together again.
func FuzzRef(f *testing.F) {
	for _, seed := range []string{"main", "main@{-3}", "a@{2 hours ago}:d/f", "@{call 71}:", "a@{2026-11-22T10:00:00Z}", "a:b@{c:d}:e", "@{99999 years ago}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRef(text, refNow)
		switch {
		case err != nil:
			require.ErrorIs(t, err, syscall.EINVAL)
		default:
			require.True(t, strings.HasPrefix(text, r.Name))
			require.False(t, r.Time.After(refNow))
			require.GreaterOrEqual(t, r.Back, 0)
			require.GreaterOrEqual(t, r.Call, int64(0))
		}
		for _, way := range cutPath(text) {
			require.Equal(t, text, way[0]+":"+way[1])
			require.NotEmpty(t, way[0])
		}
	})
}
