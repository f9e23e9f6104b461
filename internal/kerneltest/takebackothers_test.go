//go:build kernels

package kerneltest

import "testing"

func TestGoingBackInOtherKernels(t *testing.T) {
	t.Run("python", func(t *testing.T) { goesBack(t, "python", "KIMI_KERNEL_BIN="+installKimi(t)) })
	t.Run("rust", func(t *testing.T) { goesBack(t, "rust", "KIMI_KERNEL_BIN="+installAgent(t)) })
}
