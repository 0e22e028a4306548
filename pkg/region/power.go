// SPDX-License-Identifier: Apache-2.0

package region

// PowerState says where a machine is in its power life. The values and what
// they mean are in docs/reference/wire.md, "Power states". A server that was
// not observed yet has none, and builds of region may add values: consumers
// ask Known before they show one.
type PowerState string

// The power states an instance can show.
const (
	PowerPending    PowerState = "Pending"
	PowerQueued     PowerState = "Queued"
	PowerBuilding   PowerState = "Building"
	PowerRebuilding PowerState = "Rebuilding"
	PowerRunning    PowerState = "Running"
	PowerStopping   PowerState = "Stopping"
	PowerStopped    PowerState = "Stopped"
	PowerError      PowerState = "Error"
)

// Known says whether s is one of the eight values above.
func (s PowerState) Known() bool {
	switch s {
	case PowerPending, PowerQueued, PowerBuilding, PowerRebuilding,
		PowerRunning, PowerStopping, PowerStopped, PowerError:
		return true
	}
	return false
}
