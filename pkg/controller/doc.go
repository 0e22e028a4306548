// SPDX-License-Identifier: Apache-2.0

// Package controller keeps exactly one region server per ComputeInstance,
// shows on the object what became of it, and settles and releases its quota.
//
// A pass over one object (Reconciler.Reconcile) looks for its server, makes at
// most one change to it, and stores what it saw. Servers cannot be watched:
// Poller lists those of a network once for all instances on it and asks for
// another pass of every instance whose server changed.
//
// What keeps the promises:
//
//   - Never two servers: the region derives a server's id from network and
//     name, so a second create is refused, however much reads lag writes. What
//     holds the name is adopted only if it carries the instance's tag.
//   - No server without charge: the allocation is read, and raised if need be,
//     before every call that makes or changes a server.
//   - No release while a server exists: absence must be seen twice, further
//     apart than reads lag writes, and not before a create whose outcome is not
//     known must have come to an end. That a create may be under way is stored
//     before it is sent: Available is there and Healthy is not.
//   - Nothing destructive on an old view: the object is read from the API server
//     itself before every call that makes, changes or replaces a server.
package controller
