// Package shell reads a command of a POSIX shell and names the programs that it starts.
//
// The programs of some commands cannot be known before they run. [Programs] refuses these with a [HiddenError]:
//
//   - a name that is put together at run time: $x, "$(cat name)", /bin/r?
//   - a builtin that runs a text (eval, trap, source) or another program (exec, command), and an alias
//   - a change of PATH, which says where programs are found, or of PS4, which a shell expands while it traces
//
// The shell of a host may be bash or another one that knows more than POSIX does. A POSIX shell reads some texts in another
// way than these, and they run commands where a POSIX shell finds a number or a name, as in a[$(reboot)]. So these are
// refused too:
//
//   - $'text', $"text", $[text] and ((text)), outside of quotes and here-documents in which they mean nothing
//   - arithmetic over other values than numbers. A variable counts as a number if the command assigns only numbers,
//     arithmetic, $#, $?, $$, $! or the length of a variable to it, or does not assign it
//   - options of builtins that POSIX does not have and that name variables: read -a, printf -v, wait -p, local -n
//   - a format of printf that begins with an expansion, and operands of [ and test that may become operators: unquoted
//     expansions, and two unknown words in a row
//
// Programs that a program starts in turn are not named: make, sh -c and git run what they are given.
package shell
