// Package acceptance holds tests that build the program and use it as its users
// do: a plan that is killed again and again, evidence that is copied and damaged,
// two runs at once. It has no code of its own.
package acceptance
