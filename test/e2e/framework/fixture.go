// SPDX-License-Identifier: Apache-2.0

package framework

import "github.com/unikorn-cloud/instance-apiserver/pkg/ids"

// What the fixture holds.
const (
	Alpha = "alpha"
	Beta  = "beta"
	Gamma = "gamma"

	AlphaNet  ids.NetworkID = "0d000000-0000-4000-8000-0000000000d1"
	AlphaNet2 ids.NetworkID = "0d000000-0000-4000-8000-0000000000d2"
	BetaNet   ids.NetworkID = "0d000000-0000-4000-8000-0000000000d3"
	GammaNet  ids.NetworkID = "0d000000-0000-4000-8000-0000000000d4"

	AlphaGroup     ids.SecurityGroupID           = "0e000000-0000-4000-8000-0000000000e1"
	AlphaAuthority ids.SSHCertificateAuthorityID = "0f000000-0000-4000-8000-0000000000f1"

	Standard ids.FlavorID = "11111111-1111-1111-1111-111111111111"
	Gpu      ids.FlavorID = "22222222-2222-2222-2222-222222222222"
	Ubuntu   ids.ImageID  = "33333333-3333-3333-3333-333333333333"
	Ubuntu2  ids.ImageID  = "44444444-4444-4444-4444-444444444444"
)

// Things of the fixture that alpha-net has nothing to do with, and such that
// are nowhere.
const (
	Alpha2Group ids.SecurityGroupID = "0e000000-0000-4000-8000-0000000000e2"
	BetaGroup   ids.SecurityGroupID = "0e000000-0000-4000-8000-0000000000e3"
	GammaGroup  ids.SecurityGroupID = "0e000000-0000-4000-8000-0000000000e4"

	BetaAuthority  ids.SSHCertificateAuthorityID = "0f000000-0000-4000-8000-0000000000f2"
	GammaAuthority ids.SSHCertificateAuthorityID = "0f000000-0000-4000-8000-0000000000f3"

	MissingNetwork   ids.NetworkID                 = "0d000000-0000-4000-8000-0000000000df"
	MissingGroup     ids.SecurityGroupID           = "0e000000-0000-4000-8000-0000000000ef"
	MissingAuthority ids.SSHCertificateAuthorityID = "0f000000-0000-4000-8000-0000000000ff"
	MissingFlavor    ids.FlavorID                  = "11111111-1111-1111-1111-11111111111f"
	MissingImage     ids.ImageID                   = "33333333-3333-3333-3333-33333333333f"
)

// Fields that references are in.
const (
	NetworkField   = "spec.networkID"
	FlavorField    = "spec.flavorID"
	ImageField     = "spec.imageID"
	AuthorityField = "spec.sshCertificateAuthorityID"
	GroupField     = "spec.networking.securityGroupIDs[0]"
	UserDataField  = "spec.userData"
)
