// Package usage reports what a relay carried: it counts the usage of participants, writes each record to disk first, and
// sends batches until the service has confirmed them.
//
// [Open] starts a reporter. It needs a local disk of Linux or macOS, because it syncs folders and locks them by a socket.
// docs/usage.md of the service explains what a record costs, and what answers mean.
package usage
