package wire_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"

	"kimi-acp/soul/wire"
)

func TestQueuePushesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := wire.NewQueue(2)
		w := wire.New()
		w.Attach(wire.Raw, q)
		sent := 0
		go func() {
			for n := 1; n <= 5; n++ {
				w.Send(wire.StepBegin{N: n})
				sent = n
			}
		}()
		synctest.Wait()
		if sent != 2 {
			t.Fatalf("%d were sent into a queue of 2", sent)
		}
		for n := 1; n <= 5; n++ {
			m, err := q.Next(t.Context())
			if err != nil || m != (wire.StepBegin{N: n}) {
				t.Fatalf("message %d is %v (%v)", n, m, err)
			}
			synctest.Wait()
			if want := min(n+2, 5); sent != want {
				t.Fatalf("%d were sent after %d were taken, want %d", sent, n, want)
			}
		}
	})
}

func TestQueueClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := wire.NewQueue(1)
		released := false
		go func() {
			q.Receive(wire.StepBegin{N: 1})
			q.Receive(wire.StepBegin{N: 2})
			released = true
		}()
		synctest.Wait()
		if released {
			t.Fatal("a full queue took a message")
		}
		q.Close()
		q.Close()
		synctest.Wait()
		if !released {
			t.Fatal("Close did not release Receive")
		}
		q.Receive(wire.StepBegin{N: 3})
		if m, err := q.Next(t.Context()); err != nil || m != (wire.StepBegin{N: 1}) {
			t.Errorf("what was queued is %v (%v)", m, err)
		}
		if m, err := q.Next(t.Context()); err != io.EOF { //nolint:errorlint // io.EOF itself, as a Reader gives it
			t.Errorf("after the last message: %v (%v)", m, err)
		}
	})
}

func TestQueueNextWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := wire.NewQueue(0)
		ctx, cancel := context.WithCancel(t.Context())
		errs := make(chan error, 2)
		go func() {
			_, err := q.Next(ctx)
			errs <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Errorf("ctx ended: error %v", err)
		}
		go func() {
			_, err := q.Next(t.Context())
			errs <- err
		}()
		synctest.Wait()
		q.Receive(wire.TurnEnd{})
		if err := <-errs; err != nil {
			t.Errorf("a message came: error %v", err)
		}
		go func() {
			_, err := q.Next(t.Context())
			errs <- err
		}()
		synctest.Wait()
		q.Close()
		if err := <-errs; err != io.EOF { //nolint:errorlint // io.EOF itself, as a Reader gives it
			t.Errorf("closed: error %v", err)
		}
	})
}
