// Package examples is the code of README.md.
package examples
