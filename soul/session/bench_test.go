package session

import (
	"runtime"
	"strings"
	"testing"

	"kimi-acp/soul/llm"
)

// BenchmarkRestore opens a session of 10,000 messages.
func BenchmarkRestore(b *testing.B) {
	const steps = 2500
	st := NewStore(b.TempDir())
	s, err := st.Create(workDir, "x")
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat("some words of an answer, ", 20)
	for i := range steps {
		if err := s.appendLines(appendCheckpoint(nil, i), false); err != nil {
			b.Fatal(err)
		}
		var lines []byte
		for _, m := range []llm.Message{user("do it"), assistant(text, call("c", `{"command": "make"}`)), result("c", text+text), assistant(text)} {
			if lines, err = appendMessage(lines, m); err != nil {
				b.Fatal(err)
			}
		}
		if err := s.appendLines(lines, false); err != nil {
			b.Fatal(err)
		}
	}
	size := s.context.size
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		s, err := st.Open(workDir, "x")
		if err != nil || len(s.Restored().Messages) != 4*steps || s.Restored().Skipped != nil {
			b.Fatal(err, s.Restored().Skipped)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(4*steps*float64(b.N)/b.Elapsed().Seconds(), "messages/s")
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys)/(1<<20), "MiB")
}

// BenchmarkAppend writes steps that outlast a crash of the machine.
func BenchmarkAppend(b *testing.B) {
	s, err := NewStore(b.TempDir()).Create(workDir, "x")
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat("some words of an answer, ", 20)
	for b.Loop() {
		if err := s.AppendMessages(assistant(text, call("c", "{}")), result("c", text)); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}
