package hold

import (
	"fmt"
	osexec "os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A process that we saw is dead as soon as it is gone, even before its parent has taken note, or when another has its
// pid.
func TestDeadByProcess(t *testing.T) {
	place, ok := ownPlace()
	require.True(t, ok)
	child := osexec.Command("sleep", "1000")
	require.NoError(t, child.Start())
	t.Cleanup(func() { _ = child.Process.Kill(); _ = child.Wait() })
	p, ok := readProcess(fmt.Sprint(child.Process.Pid))
	require.True(t, ok)
	name := fmt.Sprintf("%s/%d/%s", place, p.pid, p.start)
	now := time.Now().UnixNano()
	require.False(t, Dead(name, now, now))
	require.True(t, Dead(name+"1", now, now), "another process has the pid")
	require.False(t, Dead("another-boot"+name[strings.Index(name, "/"):], now, now), "out of our sight")
	require.False(t, Dead(strings.Replace(name, "pid:[", "pid:[9", 1)+"1", now, now), "out of our sight")

	require.NoError(t, child.Process.Kill())
	require.Eventually(t, func() bool { return Dead(name, now, now) }, time.Minute, time.Millisecond, "not waited for")
	_ = child.Wait()
	require.True(t, Dead(name, now, now))
	require.True(t, strings.HasPrefix(owner(), place+"/"), owner())
}
