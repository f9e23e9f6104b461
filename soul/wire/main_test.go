package wire_test

import (
	"testing"

	"go.uber.org/goleak"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func ptr[T any](v T) *T { return &v }

func text(s string) wire.ContentPart { return wire.ContentPart{Part: llm.Text(s)} }

func think(s string) wire.ContentPart { return wire.ContentPart{Part: llm.Think(s)} }

// encoded gives the message as JSON, to compare with.
func encoded(t *testing.T, m wire.Message) string {
	t.Helper()
	out, err := wire.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// collect is a View that keeps what it receives. It is read when all is sent.
type collect struct{ got []wire.Message }

func (c *collect) Receive(m wire.Message) { c.got = append(c.got, m) }
