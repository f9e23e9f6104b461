//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"kimi-acp/internal/acptest"
)

// bare is the program with nobody between it and the test: for what an editor that
// keeps to the protocol cannot do.
type bare struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	end *os.File // our end of its standard output
}

func startBare(t *testing.T, env []string) *bare {
	t.Helper()
	b := &bare{t: t, cmd: exec.CommandContext(t.Context(), program(t))}
	b.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, env...)
	var err error
	if b.in, err = b.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	end, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	b.end, b.cmd.Stdout, b.out = end, out, bufio.NewReaderSize(end, 64<<10)
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = out.Close() // the program has its own
	t.Cleanup(func() { _ = end.Close() })
	return b
}

// say writes a line.
func (b *bare) say(line string) {
	b.t.Helper()
	if _, err := io.WriteString(b.in, line+"\n"); err != nil {
		b.t.Fatalf("writing to the program: %v", err)
	}
}

// line reads a line; a permission is given at once.
func (b *bare) line() string {
	b.t.Helper()
	text, err := b.out.ReadString('\n')
	if err != nil {
		b.t.Fatalf("reading %q: %v", text, err)
	}
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		b.t.Fatalf("read %q: %v", text, err)
	}
	if m.Method == "session/request_permission" {
		b.say(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"outcome":{"outcome":"selected","optionId":"allow_once"}}}`)
	}
	return text
}

// until reads up to a line that holds a text.
func (b *bare) until(part string) string {
	b.t.Helper()
	for {
		if text := b.line(); strings.Contains(text, part) {
			return text
		}
	}
}

// session makes a session and gives its id.
func (b *bare) session(dir string) string {
	b.t.Helper()
	b.say(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":1}}`)
	b.say(`{"jsonrpc":"2.0","id":"n","method":"session/new","params":{"cwd":"` + dir + `"}}`)
	var m struct {
		Result struct {
			SessionID string `json:"sessionId"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(b.until(`"id":"n"`)), &m); err != nil {
		b.t.Fatal(err)
	}
	return m.Result.SessionID
}

// prompt sends a prompt with the id "p".
func (b *bare) prompt(session string) {
	b.t.Helper()
	b.say(`{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{"sessionId":"` + session + `","prompt":[{"type":"text","text":"go"}]}}`)
}

// watched makes a pipe in a folder, a command that holds it open with all that it
// starts, and gives what waits until the last of them is gone.
func watched(t *testing.T) (command string, gone func()) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "alive")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() {
		f, err := os.Open(path) // waits for the command to open it
		if err == nil {
			_, err = io.Copy(io.Discard, f) // ends when nobody holds it any more
			_ = f.Close()
		}
		over <- err
	}()
	// The second sleep is nobody's child, as servers are that were left in the
	// background, and of the same group.
	// It stands in a file, since a command that writes into a pipe is denied.
	script := filepath.Join(t.TempDir(), "watched.sh")
	if err := os.WriteFile(script, []byte("exec 3>'"+path+"'\nsleep 1000 &\n(sleep 1000 &)\necho started\nwait\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return "sh '" + script + "'", func() {
		t.Helper()
		if err := <-over; err != nil {
			t.Errorf("waiting for the command to go: %v", err)
		}
	}
}

// However the connection ends, nothing that the program had started lives on.
// (Peers, number 65.)
func Test020NothingOutlivesTheConnection(t *testing.T) {
	begin := func(t *testing.T) (*acptest.Client, func()) {
		t.Helper()
		command, gone := watched(t)
		c := start(t, playing(t, runs(t, command), "text: never"))
		c.Initialize(acptest.Capabilities{})
		turn := c.NewSession(t.TempDir()).Prompt(acptest.Text("go"))
		turn.Until("the command's output", func(u acptest.Update) bool { return strings.Contains(string(u.Raw), "started") })
		return c, gone
	}
	t.Run("the input ends", func(t *testing.T) {
		c, gone := begin(t)
		if got := c.Exit(); got != 0 {
			t.Errorf("exit status %d", got)
		}
		gone()
	})
	t.Run("the program is killed", func(t *testing.T) {
		c, gone := begin(t)
		c.Kill()
		<-c.Ended()
		gone()
	})
	beginBare := func(t *testing.T) (*bare, func()) {
		t.Helper()
		command, gone := watched(t)
		b := startBare(t, playing(t, runs(t, command), "text: never"))
		b.prompt(b.session(t.TempDir()))
		b.until("started\\n")
		return b, gone
	}
	t.Run("a signal to end", func(t *testing.T) {
		b, gone := beginBare(t)
		if err := b.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := b.cmd.Wait(); err != nil {
			t.Errorf("the program: %v", err)
		}
		gone()
	})
	t.Run("the editor is killed", func(t *testing.T) {
		b, gone := beginBare(t)
		_ = b.end.Close()
		_ = b.in.Close()
		_ = b.cmd.Wait() // any status: nobody is there to see it
		gone()
	})
}

// A program of the user's that is asked for the context goes with the program too.
func TestContextProgramsGoWithTheProgram(t *testing.T) {
	begin := func(t *testing.T) (*bare, func()) {
		t.Helper()
		command, gone := watched(t)
		share, up := t.TempDir(), filepath.Join(t.TempDir(), "up")
		if err := syscall.Mkfifo(up, 0o600); err != nil {
			t.Fatal(err)
		}
		args, err := json.Marshal([]string{"sh", "-c", command + " >'" + up + "'"})
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(share, "acp.toml"), "[context.programs.slow]\ncommand = "+string(args)+"\n")
		b := startBare(t, append(playing(t, "text: never"), "KIMI_SHARE_DIR="+share))
		b.session(t.TempDir())
		f, err := os.Open(up) // waits for the program to open it
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() }) // only read
		if _, err := f.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		return b, gone
	}
	t.Run("the input ends", func(t *testing.T) {
		b, gone := begin(t)
		if err := b.in.Close(); err != nil {
			t.Error(err)
		}
		if err := b.cmd.Wait(); err != nil {
			t.Errorf("the program: %v", err)
		}
		gone()
	})
	t.Run("the program is killed", func(t *testing.T) {
		b, gone := begin(t)
		if err := b.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = b.cmd.Wait() // it was killed
		gone()
	})
}

func Test021AnswersToPipedInput(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), program(t))
	cmd.Env = append([]string{"HOME=" + t.TempDir()}, playing(t, "text: hi")...)
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}
{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"` + t.TempDir() + `"}}
{"jsonrpc":"2.0","id":3,"method":"session/nonsense"}`) // the last line without its end
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("the program: %v", err)
	}
	for _, want := range []string{`{"jsonrpc":"2.0","id":1,"result":`, `{"jsonrpc":"2.0","id":2,"result":`, `{"jsonrpc":"2.0","id":3,"error":{"code":-32601`} {
		if strings.Count(string(out), want) != 1 {
			t.Errorf("standard output does not hold %s once:\n%s", want, out)
		}
	}
	if !strings.HasSuffix(string(out), "}\n") {
		t.Errorf("standard output ends with %q", out[max(0, len(out)-20):])
	}
}

// What lists, shows and copies sessions is answered too, when the input ends behind it.
func TestAnswersAboutSessionsToPipedInput(t *testing.T) {
	home, work := t.TempDir(), t.TempDir()
	env := append([]string{"HOME=" + home}, playing(t, strings.Repeat("text: a line of an answer\n", 500))...)
	pipe := func(lines ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program(t))
		cmd.Env, cmd.Stdin = env, strings.NewReader(strings.Join(append([]string{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"_meta":{"kimi":{"archive":true}}}}}`}, lines...), "\n"))
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("the program: %v", err)
		}
		return string(out)
	}
	b := startBare(t, env)
	id := b.session(work)
	b.say(`{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{"sessionId":"` + id + `","prompt":[{"type":"text","text":"talk"}]}}`)
	b.until(`"id":"p"`)
	if err := b.in.Close(); err != nil {
		t.Error(err)
	}
	if err := b.cmd.Wait(); err != nil {
		t.Errorf("the program: %v", err)
	}
	at := `{"sessionId":"` + id + `","cwd":"` + work + `","mcpServers":[]}`
	for _, method := range []string{"session/list", "session/load", "session/resume", "session/fork", "session/archive", "session/unarchive", "session/delete"} {
		params := at
		if method == "session/list" {
			params = "{}"
		}
		got := pipe(`{"jsonrpc":"2.0","id":2,"method":"` + method + `","params":` + params + `}`)
		if !strings.Contains(got, `"id":2,"result":{`) || method == "session/list" && !strings.Contains(got, id) || method == "session/load" && strings.Count(got, "a line of an answer") < 500 {
			t.Errorf("%s piped gives %.2000s", method, got)
		}
	}
}

// A line of 20 MiB is served, and so is what comes in front of a conversation and
// between its lines: a byte order mark, blank lines, garbage. (Peers, number 68.)
func Test015To016OddAndLongLines(t *testing.T) {
	b := startBare(t, playing(t, "text: seen"))
	if _, err := io.WriteString(b.in, "\ufeff\r\n"); err != nil {
		t.Fatal(err)
	}
	id := b.session(t.TempDir())
	b.say("")
	b.say("Welcome to your shell!\r")
	if got := b.until(`"id":null`); !strings.Contains(got, "-32700") {
		t.Errorf("garbage was answered %s", got)
	}
	b.say(`{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{"sessionId":"` + id + `","prompt":[{"type":"image","mimeType":"image/png","data":"` + strings.Repeat("AAAA", 5<<20) + `"}]}}` + "\r")
	if got := b.until(`"id":"p"`); got != `{"jsonrpc":"2.0","id":"p","result":{"stopReason":"end_turn"}}`+"\n" {
		t.Errorf("the prompt was answered %.200s", got)
	}
	if err := b.in.Close(); err != nil {
		t.Error(err)
	}
	if rest, err := io.ReadAll(b.out); err != nil || len(rest) != 0 {
		t.Errorf("at the end came %q, %v", rest, err)
	}
	if err := b.cmd.Wait(); err != nil {
		t.Errorf("the program: %v", err)
	}
}

// talks is a script with more text than any pipe holds.
func talks() string {
	return strings.Repeat("text: "+strings.Repeat("x", 64<<10)+"\n", 100)
}

// An editor that does not read keeps the program from speaking, not from leaving.
func Test024EditorThatDoesNotRead(t *testing.T) {
	for name, leave := range map[string]func(t *testing.T, b *bare){
		"the input ends": func(t *testing.T, b *bare) {
			if err := b.in.Close(); err != nil {
				t.Error(err)
			}
		},
		"the output breaks": func(t *testing.T, b *bare) {
			if err := b.end.Close(); err != nil {
				t.Error(err)
			}
		},
		"a signal to end": func(t *testing.T, b *bare) {
			if err := b.cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := startBare(t, playing(t, talks()))
			b.prompt(b.session(t.TempDir()))
			b.until("agent_message_chunk")
			leave(t, b)
			if err := b.cmd.Wait(); err != nil {
				t.Errorf("the program: %v", err)
			}
		})
	}
}

// Whatever in the process writes to descriptor 1 (a library, a crash) reaches
// standard error and not the editor.
func TestPeer67DescriptorOneIsStandardError(t *testing.T) {
	b := startBare(t, playing(t, "text: hi"))
	b.session(t.TempDir()) // by now it serves
	at := func(fd int) string {
		target, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", b.cmd.Process.Pid, fd))
		if err != nil {
			t.Skipf("there is no /proc here: %v", err)
		}
		return target
	}
	if at(1) != at(2) || at(0) != os.DevNull {
		t.Errorf("descriptors 0, 1, 2 are %s, %s, %s", at(0), at(1), at(2))
	}
	if err := b.in.Close(); err != nil {
		t.Error(err)
	}
	if err := b.cmd.Wait(); err != nil {
		t.Errorf("the program: %v", err)
	}
}
