package acp

import (
	"errors"
	"path/filepath"
	"slices"
	"time"

	"kimi-acp/soul"
	store "kimi-acp/soul/session"
)

// Parking: a session that nobody talks to lets go of its history, its files and its
// lock. The next prompt brings them back, and another program may have the session
// until then.

const (
	parkAfter = 10 * time.Minute
	maxAwake  = 16 // sessions that are kept and not parked, but for those whose turn runs
)

// parkLater sees to it that the session is parked when it stays idle. The lock of the
// session is held.
func (s *session) parkLater() {
	if s.kept == nil || s.closing {
		return
	}
	wait := s.agent.opts.ParkAfter
	if wait <= 0 {
		wait = parkAfter
	}
	s.stopParking()
	s.used = time.Now()
	s.parking = time.AfterFunc(wait, func() { s.agent.background(s.park) })
}

// stopParking is called when the session is no longer idle. The lock of the session is
// held.
func (s *session) stopParking() {
	if s.parking != nil {
		s.parking.Stop()
		s.parking = nil
	}
}

// background runs something that the end of the connection waits for, unless that has
// begun.
func (a *Agent) background(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.over {
		a.turns.Go(f)
	}
}

// park lets go of what an idle session holds.
func (s *session) park() {
	s.working.Lock()
	defer s.working.Unlock()
	s.shelving.Lock()
	defer s.shelving.Unlock()
	s.mu.Lock()
	kept := s.kept
	if s.draining || s.closing || kept == nil || kept.Err() != nil {
		s.mu.Unlock()
		return
	}
	if s.tasks.Active() > 0 { // nobody else may have the session while they run
		s.parkLater()
		s.mu.Unlock()
		return
	}
	s.kept = nil
	s.mu.Unlock()
	park(s.mind())
	s.closeJournal()
	s.tasks.Release()
	s.wire.Flush()
	s.stopRecording()
	if err := kept.Close(); err != nil {
		s.agent.log.Warn("the end of a session may not have been kept", "session", s.id, "error", err)
	}
	s.move(soul.SessionPaused)
}

// wake brings back what park let go of, and opens what a session does without until
// something is done in it. The caller holds working.
func (s *session) wake() error {
	if s.state.State() == soul.SessionPaused {
		if err := s.unpark(); err != nil {
			return err
		}
	}
	s.openJournal()
	return nil
}

// openJournal opens the journal of changes in the session's folder. Without it, edits
// are kept in memory.
func (s *session) openJournal() {
	kept := s.file()
	if kept == nil || s.journaled {
		return
	}
	s.journaled = true
	if err := s.journal.Open(filepath.Join(kept.OwnDir(), "journal")); err != nil {
		s.agent.log.Warn("the changes of a session are not kept on disk", "session", s.id, "error", err)
	}
}

// closeJournal lets go of the journal's files.
func (s *session) closeJournal() {
	if !s.journaled {
		return
	}
	s.journaled = false
	if err := s.journal.Close(); err != nil {
		s.agent.log.Warn("the end of a session's journal may not have been kept", "session", s.id, "error", err)
	}
}

func (s *session) unpark() error {
	s.shelving.Lock()
	defer s.shelving.Unlock()
	kept, err := s.agent.opts.Sessions.Open(s.roots[0], s.id)
	if err != nil {
		return storeError(s.id, err)
	}
	s.mu.Lock()
	closing := s.closing
	s.mu.Unlock()
	if closing {
		return errors.Join(unknownSession(s.id), kept.Close())
	}
	s.keep(kept)
	s.saveOptionsNow() // they may have changed while that could not be kept
	s.move(soul.SessionIdle)
	return nil
}

// awake does something with a session between its turns, also when it was parked.
func (s *session) awake(f func()) error {
	s.working.Lock()
	defer s.working.Unlock()
	if err := s.wake(); err != nil {
		return err
	}
	f()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.draining {
		s.parkLater()
	}
	return nil
}

// parkOldest parks the sessions that have been idle longest when too many are awake.
func (a *Agent) parkOldest() {
	type idle struct {
		session *session
		since   time.Time
	}
	var awake []idle
	a.mu.Lock()
	for _, s := range a.sessions {
		s.mu.Lock()
		if s.kept != nil && !s.draining {
			awake = append(awake, idle{s, s.used})
		}
		s.mu.Unlock()
	}
	a.mu.Unlock()
	slices.SortStableFunc(awake, func(x, y idle) int { return x.since.Compare(y.since) })
	for len(awake) > maxAwake {
		a.background(awake[0].session.park)
		awake = awake[1:]
	}
}

// withFile runs f with the file of the session, which may have to be brought back for it
// and stays until f returns; also while a turn runs.
func (s *session) withFile(f func(kept *store.Session) error) error {
	found, failed := s.withOpenFile(f)
	if !found {
		if err := s.awake(func() { found, failed = s.withOpenFile(f) }); err != nil {
			return err
		}
	}
	if !found {
		failed = errNotKept
	}
	if failed != nil {
		return storeError(s.id, failed)
	}
	return nil
}

// withOpenFile is withFile for a session that is not parked; false: it is, or kept nowhere.
func (s *session) withOpenFile(f func(kept *store.Session) error) (found bool, err error) {
	s.shelving.Lock()
	defer s.shelving.Unlock()
	kept := s.file()
	if kept == nil {
		return false, nil
	}
	return true, f(kept)
}
