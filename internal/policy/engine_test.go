package policy

import "testing"

// engine gives an Engine with the given ready sets.
func engine(t testing.TB, o Options) *Engine {
	t.Helper()
	e, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestReadySets(t *testing.T) {
	engine(t, Options{Sets: []string{SetInspect, SetBuild}})
	if _, err := New(Options{Sets: []string{"nonsense"}}); err == nil {
		t.Error("an unknown set is taken")
	}
}
