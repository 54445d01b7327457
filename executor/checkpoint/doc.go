// Package checkpoint owns the run directory: its layout, its lock, attempts and
// their leases, checkpoints, events, requests and the derived index. FORMAT.md
// describes the files.
//
// It runs nothing and decides nothing. Its invariants: what a checkpoint names
// is durable before the checkpoint is (PLN-19); an attempt has one owner, the
// creator of its lease, and one end, the first published checkpoint (PLN-24);
// nothing finished is ever replaced or deleted (PLN-23); nothing inside an
// attempt is followed through a symbolic link or opened unless it is a regular
// file. The guarantees rest on fsync, link(2) and, for the lock, flock(2), and
// hold no further than the file system keeps these promises.
package checkpoint
