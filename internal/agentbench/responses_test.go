package main

import (
	"bufio"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// post asks the model and gives the events of its answer, in order.
func post(t *testing.T, m model) (kinds []string, data []map[string]any) {
	t.Helper()
	resp, err := http.Post(m.baseURL()+"/responses", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if kind, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			kinds = append(kinds, kind)
		}
		if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			var one map[string]any
			if err := json.Unmarshal([]byte(text), &one); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			data = append(data, one)
		}
	}
	for i, one := range data {
		if one["type"] != kinds[i] {
			t.Errorf("event %s holds the type %v", kinds[i], one["type"])
		}
	}
	return kinds, data
}

func startResponsesTest(t *testing.T) model {
	t.Helper()
	m, err := startModel(responses)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		m.close()
	})
	return m
}

func TestResponsesText(t *testing.T) {
	m := startResponsesTest(t)
	gate := make(chan struct{})
	close(gate)
	m.push(reply{gate: gate, deltas: []string{"one ", "two"}})
	kinds, data := post(t, m)
	want := []string{
		"response.created", "response.output_item.added", "response.output_text.delta",
		"response.output_text.delta", "response.output_item.done", "response.completed",
	}
	if !slices.Equal(kinds, want) {
		t.Fatalf("events %v, want %v", kinds, want)
	}
	if data[2]["delta"] != "one " || data[3]["delta"] != "two" {
		t.Errorf("deltas %v and %v", data[2]["delta"], data[3]["delta"])
	}
	if whole := object(data[4]); !strings.Contains(whole, `"text":"one two"`) {
		t.Errorf("the item is %s", whole)
	}
	if _, err := m.arrival(t.Context()); err != nil {
		t.Errorf("the request did not count: %v", err)
	}
}

func TestResponsesCall(t *testing.T) {
	m := startResponsesTest(t)
	m.push(reply{call: toolCall{"exec", `{"a":1}`}})
	kinds, data := post(t, m)
	want := []string{"response.created", "response.output_item.done", "response.completed"}
	if !slices.Equal(kinds, want) {
		t.Fatalf("events %v, want %v", kinds, want)
	}
	item, _ := data[1]["item"].(map[string]any)
	if item["type"] != "function_call" || item["name"] != "exec" || item["arguments"] != `{"a":1}` {
		t.Errorf("the item is %v", item)
	}
}

// An agent may ask more often than the benchmark knows.
func TestResponsesUnexpectedRequest(t *testing.T) {
	m := startResponsesTest(t)
	m.push(reply{deltas: []string{"left over"}})
	m.forget()
	if _, data := post(t, m); data[2]["delta"] != "ok" {
		t.Errorf("the answer is %v, want ok", data[2]["delta"])
	}
}

func TestResponsesRefuses(t *testing.T) {
	m := startResponsesTest(t)
	for _, test := range []struct {
		path, body string
		status     int
	}{
		{"/models", "{}", http.StatusNotFound},
		{"/responses", "{", http.StatusBadRequest},
	} {
		resp, err := http.Post(m.baseURL()+test.path, "application/json", strings.NewReader(test.body))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != test.status {
			t.Errorf("%s %s: status %d, want %d", test.path, test.body, resp.StatusCode, test.status)
		}
	}
}

// A gate that never opens must not keep the server from ending.
func TestResponsesCloseReleasesGate(t *testing.T) {
	m, err := startModel(responses)
	if err != nil {
		t.Fatal(err)
	}
	m.push(reply{gate: make(chan struct{})})
	answered := make(chan error, 1)
	go func() {
		resp, err := http.Post(m.baseURL()+"/responses", "application/json", strings.NewReader("{}"))
		if err == nil {
			resp.Body.Close()
		}
		answered <- err
	}()
	if _, err := m.arrival(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.close()
	<-answered
	http.DefaultClient.CloseIdleConnections()
}
