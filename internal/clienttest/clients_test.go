//go:build clients

package clienttest

import (
	"path/filepath"
	"testing"

	"kimi-acp/internal/acptest"
)

// TestClients builds the agent once and drives it with every client. A client
// that cannot be installed is skipped with a banner; one that is installed and
// fails is a failure.
func TestClients(t *testing.T) {
	agent := acptest.Build(t)
	list := readPackages(t)
	runtime := install(t, list, "node")
	node := filepath.Join(runtime, "node", "bin", "node")

	t.Run("acpx", func(t *testing.T) {
		acpx := filepath.Join(install(t, list, "acpx"), "acpx", "dist", "cli.js")
		testACPX(t, agent, node, acpx)
		t.Run("sessions", func(t *testing.T) { testACPXSessions(t, agent, node, acpx) })
	})
	t.Run(wireSDK, func(t *testing.T) {
		testWireSDK(t, agent, node, resolve(t, node, install(t, list, wireSDK), wireSDK))
	})
	for _, g := range generations {
		t.Run(g.name, func(t *testing.T) {
			testGeneration(t, agent, node, g, resolve(t, node, install(t, list, g.name), g.name))
		})
	}
}
