// Package storetest holds what every fileop.Store has to pass, and a Store that
// fails on purpose. It is for tests; it must not know any particular Store.
package storetest
