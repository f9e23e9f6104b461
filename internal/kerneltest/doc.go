// Package kerneltest holds what this program keeps on disk against kimi-cli, the
// program whose form it is: sessions of either are continued by the other. It also has
// kimi-cli think while this program does the rest, as a kernel behind the Wire.
//
// The tests stand behind the build tag kernels, since they install a Python package:
//
//	go test -tags kernels -count=1 -v ./internal/kerneltest
//
// Python 3.13 or newer is needed; KIMI_KERNEL_PYTHON names one that is not found,
// KIMI_KERNELS_DIR the folder in which what was installed is kept. The package must
// not know how kimi-cli works, but for its command line and its files.
package kerneltest
