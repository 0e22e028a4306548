// SPDX-License-Identifier: Apache-2.0

package userdata

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// lockedOut is said of user data that keeps out everybody.
const lockedOut = "gives nobody a way to log in: its users have neither key nor password, and the network's key goes only to " +
	"the user default; add default to users, or ssh_authorized_keys to one of them"

// otherWays are the top-level keys of cloud-config by which somebody may come
// to log in other than through users: those that name people, keys or
// passwords, and those that run or write whatever they say.
var otherWays = []string{
	"ansible", "bootcmd", "chef", "chpasswd", "disable_root", "password", "puppet", "runcmd", "salt_minion", "snap",
	"ssh_authorized_keys", "ssh_import_id", "user", "write_files",
	// How cloud-config is merged, which is then not as merge does it.
	"merge_how", "merge_type",
}

// credentials are what an entry of users may have to log in with.
var credentials = []string{
	"hashed_passwd", "passwd", "plain_text_passwd", "snapuser",
	"ssh-authorized-keys", "ssh-import-id", "ssh_authorized_keys", "ssh_import_id",
	// A reference to another mapping: what is in it was not looked at.
	"<<",
}

// logins is who can log in to a server without an SSH certificate authority:
// docs/reference/wire.md, "User data".
type logins struct {
	// users is the list in force, nil while there is none: the image's is, which
	// has the default user.
	users *yaml.Node
	// unknown says that there may be a way that is not seen here.
	unknown bool
}

// merge takes cloud-config on top of what came before: cloud-init keeps the last
// value of each key.
func (l *logins) merge(config *yaml.Node) {
	for at := 0; at+1 < len(config.Content); at += 2 {
		key := config.Content[at].Value
		switch {
		case key == "users":
			l.users = config.Content[at+1]
		case key == "<<", slices.Contains(otherWays, key):
			l.unknown = true
		}
	}
}

// excludeAll tells whether it is certain that nobody can log in.
func (l *logins) excludeAll() bool {
	if l.unknown || l.users == nil || l.users.Kind != yaml.SequenceNode {
		return false
	}
	return !slices.ContainsFunc(l.users.Content, mayLogIn)
}

// mayLogIn tells whether an entry of users is the default user or has
// something to log in with.
func mayLogIn(user *yaml.Node) bool {
	switch user.Kind {
	case yaml.ScalarNode:
		return user.Value == defaultUser
	case yaml.MappingNode:
		for at := 0; at+1 < len(user.Content); at += 2 {
			key, value := user.Content[at].Value, user.Content[at+1]
			if key == "name" && value.Value == defaultUser || slices.Contains(credentials, key) {
				return true
			}
		}
		return false
	default:
		return true
	}
}

// defaultUser stands for the user that the image knows.
const defaultUser = "default"
