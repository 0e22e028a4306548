// SPDX-License-Identifier: Apache-2.0

package controller

// Reasons of events. They appear on the Instance.
const (
	EventServerCreated  = "ServerCreated"
	EventServerAdopted  = "ServerAdopted"
	EventServerUpdated  = "ServerUpdated"
	EventServerReplaced = "ServerReplaced"
	EventServerDeleted  = "ServerDeleted"
)
