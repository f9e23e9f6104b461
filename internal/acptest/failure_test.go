package acptest_test

import (
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"kimi-acp/internal/acptest"
)

// Each broken rule is package judge's business; here, that what it finds fails
// the test and shows the line and the transcript.
func TestViolationFailsTheTest(t *testing.T) {
	r := record(t, func(t testing.TB) {
		c := connect(t, func(a *agent) {
			a.begin()
			a.say(chunk("x"), ended, chunk("late"))
		})
		_, turn := prompt(c, acptest.Capabilities{}, "/w")
		turn.Wait()
	})
	r.wantFailure(t, "outside of a turn")
	r.wantFailure(t, `"text":"late"`)
	if logs := strings.Join(r.logs, "\n"); !strings.Contains(logs, `<<< `+chunk("x")) || !strings.Contains(logs, `"method":"initialize"`) {
		t.Errorf("the transcript is missing, logs: %s", logs)
	}
}

func TestOwnViolationFailsTheTest(t *testing.T) {
	r := record(t, func(t testing.TB) {
		c := connect(t, func(a *agent) {
			a.want("initialize")
			a.say(initialized)
			a.want("session/new")
			a.say(opened)
		})
		c.Initialize(acptest.Capabilities{})
		c.NewSession("relative")
	})
	r.wantFailure(t, "not an absolute path")
}

func TestWaitsEnd(t *testing.T) {
	tests := []struct {
		name  string
		agent func(a *agent)
		test  func(c *acptest.Client)
		want  string
	}{
		{"no answer", func(a *agent) {
			a.want("no such line")
		}, func(c *acptest.Client) { c.Initialize(acptest.Capabilities{}) }, "waited 2m0s for the answer to initialize"},
		{"agent ends", func(a *agent) {
			a.want("initialize")
		}, func(c *acptest.Client) { c.Initialize(acptest.Capabilities{}) }, "ended without an answer"},
		{"agent ends before an update", func(a *agent) {
			a.begin()
			a.say(ended)
		}, func(c *acptest.Client) {
			_, turn := prompt(c, acptest.Capabilities{}, "/w")
			turn.Until("a plan", acptest.IsKind("plan"))
		}, "ended while the test waited for a plan"},
		{"agent does not read", func(a *agent) {
			<-a.gone
		}, func(c *acptest.Client) { c.Initialize(acptest.Capabilities{}) }, "did not read for 2m0s"},
		{"result in place of an error", func(a *agent) {
			a.begin()
			a.say(ended)
		}, func(c *acptest.Client) {
			_, turn := prompt(c, acptest.Capabilities{}, "/w")
			turn.Fails(-32603)
		}, `want error -32603`},
		{"another error", func(a *agent) {
			a.begin()
			a.say(`{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"m"}}`)
		}, func(c *acptest.Client) {
			_, turn := prompt(c, acptest.Capabilities{}, "/w")
			turn.Fails(-32603)
		}, "want code -32603"},
		{"error in place of a result", func(a *agent) {
			a.begin()
			a.say(`{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"m"}}`)
		}, func(c *acptest.Client) {
			_, turn := prompt(c, acptest.Capabilities{}, "/w")
			turn.Wait()
		}, "want a result"},
		{"last line cut short", func(a *agent) {
			a.want("initialize")
			_, _ = io.WriteString(a.out, initialized)
		}, func(c *acptest.Client) { c.Initialize(acptest.Capabilities{}) }, "no newline"},
		{"kill without a process", func(*agent) {}, func(c *acptest.Client) { c.Kill() }, "runs in this process"},
		{"exit without a process", func(*agent) {}, func(c *acptest.Client) { c.Exit() }, "runs in this process"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := record(t, func(t testing.TB) { tt.test(connect(t, tt.agent)) })
				r.wantFailure(t, tt.want)
			})
		})
	}
}

func TestOutputThatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, out := io.Pipe()
		r := record(t, func(t testing.TB) {
			acptest.Connect(t, discard{}, in)
		})
		r.wantFailure(t, "did not end its output")
		_ = out.Close()
	})
}

// discard is the input of an agent that takes everything.
type discard struct{ io.Writer }

func (discard) Close() error { return nil }

func TestProcess(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	start := func(t testing.TB, kind string) *acptest.Client {
		t.Setenv("SECRET", "of the test")
		c := acptest.Start(t, acptest.Process{Path: exe, Env: []string{asAgent + "=" + kind}})
		c.Initialize(acptest.Capabilities{})
		return c
	}
	t.Run("exits", func(t *testing.T) {
		c := start(t, "lives")
		if status := c.Exit(); status != 0 {
			t.Errorf("exit status %d", status)
		}
		if got := c.Stderr(); !strings.HasPrefix(got, "log of lives \n") {
			t.Errorf("stderr %q, want the agent's line, without the test's SECRET", got)
		}
	})
	t.Run("killed", func(t *testing.T) {
		c := start(t, "lives")
		c.Kill()
		<-c.Ended()
	})
	t.Run("fails", func(t *testing.T) {
		r := record(t, func(t testing.TB) {
			c := start(t, "dies")
			if status := c.Exit(); status != 3 {
				t.Errorf("exit status %d, want 3", status)
			}
		})
		r.wantFailure(t, "exit status 3, want exit status 0")
		if logs := strings.Join(r.logs, "\n"); !strings.Contains(logs, "log of dies") {
			t.Errorf("the transcript is without stderr: %s", logs)
		}
	})
	t.Run("missing", func(t *testing.T) {
		record(t, func(t testing.TB) {
			acptest.Start(t, acptest.Process{Path: "/no/such/agent"})
		}).wantFailure(t, "starting the agent")
	})
}
