// Package searchbench compares Glob and Grep with ripgrep on a large tree. It has
// benchmarks only, which run both in turn on the same files and print how many times
// as long ours take.
//
// It must not be imported, and it must not be part of a plain test run: it makes
// 50,000 files, needs rg, and what it measures depends on the machine.
package searchbench
