// SPDX-License-Identifier: Apache-2.0

package consolelog

// group is all followers that have something in common.
type group struct {
	by, name string
}

// everybody is the group of all.
var everybody = group{by: "all"}

// places counts the followers of each group that has any.
type places map[group]int

func groupsOf(request *Request) [4]group {
	return [4]group{everybody, {"console", request.Console}, {"user", request.User}, {"tenant", request.Tenant}}
}

// take reports whether there was a place in each group of the request, and
// takes it.
func (p places) take(request *Request, limits *Limits) bool {
	groups := groupsOf(request)
	for i, limit := range [len(groups)]int{limits.Total, limits.PerConsole, limits.PerUser, limits.PerTenant} {
		if p[groups[i]] >= limit {
			return false
		}
	}
	for _, group := range groups {
		p[group]++
	}
	return true
}

func (p places) giveBack(request *Request) {
	for _, group := range groupsOf(request) {
		p[group]--
		if p[group] == 0 {
			delete(p, group)
		}
	}
}
