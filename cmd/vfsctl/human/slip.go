package human

import "strings"

// Similar reports whether typed may be a slip for word. It is if one begins with the other, or if one letter is wrong,
// missing, added or swapped with its neighbour. Words of six letters or more may differ by two.
func Similar(typed, word string) bool {
	typed, word = strings.ToLower(typed), strings.ToLower(word)
	if len(typed) >= 3 && strings.HasPrefix(word, typed) || len(word) >= 3 && strings.HasPrefix(typed, word) {
		return true
	}
	if len(typed) < 3 || len(word) < 2 {
		return false
	}
	most := 1
	if min(len(typed), len(word)) >= 6 {
		most = 2
	}
	return distance(typed, word) <= most
}

// distance counts the edits from a to b. An edit adds, removes or replaces a byte, or swaps two neighbours.
func distance(a, b string) int {
	row := func() []int { return make([]int, len(b)+1) }
	before, last, next := row(), row(), row()
	for j := range last {
		last[j] = j
	}

	// Each row holds the distances between one prefix of a and all prefixes of b. A swap looks two rows back.
	for i := 1; i <= len(a); i++ {
		next[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(last[j]+1, next[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, last, next = last, next, before
	}
	return last[len(b)]
}
