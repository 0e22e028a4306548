// SPDX-License-Identifier: Apache-2.0

//go:build unix && !linux

package process

import "syscall"

// dieWithParent does nothing where the kernel has no such service: Sweep finds
// what a killed parent left.
func dieWithParent(*syscall.SysProcAttr) {}
