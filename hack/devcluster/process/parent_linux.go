// SPDX-License-Identifier: Apache-2.0

package process

import "syscall"

// dieWithParent has the kernel kill the program when its parent ends without
// stopping it.
func dieWithParent(attributes *syscall.SysProcAttr) {
	attributes.Pdeathsig = syscall.SIGKILL
}
