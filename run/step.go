package run

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// A step is a part of a run that must happen in a process of its own, before the command starts: in other namespaces, or
// under rules that cannot be taken back. The program executes itself again for it, so no other program is needed. The
// variable stepEnv has the name of the step, and init runs it in place of the program's main.
const stepEnv = "VFSDB_RUN_STEP"

// probeStep is the name of the step of a command that does nothing, see [Probe].
const probeStep = "probe"

// The descriptors of a step: the first has what it is to do; the second takes its error, and is closed
// without one once the command has started.
const (
	stepInput  = 3
	stepReport = 4
	stepFiles  = 5 // the first of further descriptors
)

func init() {
	if name := os.Getenv(stepEnv); name != "" {
		if name == probeStep {
			os.Exit(0)
		}
		_ = os.Unsetenv(stepEnv)
		os.Exit(runStep(name))
	}
}

// runStep does a step in this process, and returns its exit code. Only a step that fails returns one to the caller; the
// others end as the command does.
func runStep(name string) int {
	report := os.NewFile(stepReport, "report")
	syscall.CloseOnExec(stepReport)
	input, err := io.ReadAll(os.NewFile(stepInput, "input"))
	_ = syscall.Close(stepInput)
	code := 0
	if do := steps()[name]; err == nil && do == nil {
		err = fmt.Errorf("run: no step %q: %w", name, syscall.EINVAL)
	} else if err == nil {
		code, err = do(input, report)
	}
	if err != nil {
		_ = gob.NewEncoder(report).Encode(newStepError(err))
		return 1
	}
	return code
}

// A stepError is an error on its way from a step.
type stepError struct {
	Text   string
	Errno  syscall.Errno
	Start  string // of a [StartError]: the name
	Unable *UnableError
}

func newStepError(err error) stepError {
	var (
		e     = stepError{Text: err.Error()}
		start *StartError
	)
	_ = errors.As(err, &e.Errno)
	if errors.As(err, &start) {
		e.Start = start.Name
	}
	if errors.As(err, &e.Unable) {
		copied := *e.Unable
		copied.Err = nil
		e.Unable = &copied
	}
	return e
}

func (e stepError) Error() string { return e.Text }

func (e stepError) Unwrap() error { return e.Errno }

// asError returns the error as it was in the step.
func (e stepError) asError() error {
	switch {
	case e.Unable != nil:
		if e.Errno != 0 {
			e.Unable.Err = e.Errno
		}
		return e.Unable
	case e.Start != "" && e.Errno != 0:
		return &StartError{e.Start, e.Errno}
	case e.Start != "":
		return &StartError{e.Start, errors.New(e.Text)}
	case e.Errno == 0:
		return errors.New(e.Text)
	}
	return e
}

// thisProgram is the program of this process. It works too where the file was replaced meanwhile, or stands in a directory
// that this user cannot enter. Only Linux has steps.
const thisProgram = "/proc/self/exe"

// newStep returns the process of a step, with the environment env, and the function that starts it. start returns once the
// step has started the command, or its error.
func newStep(name string, input any, env []string) (cmd *exec.Cmd, start func() error, err error) {
	var text bytes.Buffer
	if err := gob.NewEncoder(&text).Encode(input); err != nil {
		return nil, nil, err
	}
	cmd = exec.Command(thisProgram)
	cmd.Env = append(env[:len(env):len(env)], stepEnv+"="+name)
	return cmd, func() error { return startStep(cmd, text.Bytes()) }, nil
}

func startStep(cmd *exec.Cmd, input []byte) (err error) {
	theirInput, ourInput, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirInput.Close()
	defer ourInput.Close()
	ourReport, theirReport, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ourReport.Close()
	defer theirReport.Close()

	cmd.ExtraFiles = append([]*os.File{theirInput, theirReport}, cmd.ExtraFiles...)
	if err := cmd.Start(); err != nil {
		return err
	}
	theirInput.Close()
	theirReport.Close()
	_, _ = ourInput.Write(input) // a step that is gone reports nothing
	ourInput.Close()

	report, err := io.ReadAll(ourReport)
	if err == nil && len(report) == 0 {
		return nil
	}
	var failed stepError
	if err == nil {
		if err = gob.NewDecoder(bytes.NewReader(report)).Decode(&failed); err == nil {
			err = failed.asError()
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	return err
}
