//go:build kernels

package kerneltest

import (
	"testing"

	"kimi-acp/soul/kernel"
)

func TestFeaturesOfOtherKernels(t *testing.T) {
	t.Run("python", func(t *testing.T) {
		features(t, kernel.Program{Kind: kernel.Python, Args: []string{installKimi(t)}}, true, "compacted")
	})
	t.Run("rust", func(t *testing.T) {
		features(t, kernel.Program{Kind: kernel.Rust, Args: []string{installAgent(t)}}, false, "compacted")
	})
}
