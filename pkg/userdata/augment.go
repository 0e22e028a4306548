// SPDX-License-Identifier: Apache-2.0

package userdata

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/textproto"
	"strings"

	"sigs.k8s.io/yaml"
)

const (
	authorityFile = "/etc/ssh/trusted-user-ca-keys.pub"
	daemonFile    = "/etc/ssh/sshd_config.d/90-unikorn-trusted-user-ca.conf"
	// reloadRoom is room for the command that reloads the SSH daemon, in bytes.
	// Region's was seen to have about two hundred.
	reloadRoom = 256
	// boundaryLength is that of the boundaries that mime/multipart draws.
	boundaryLength = 60
)

// authorityKeys are the top-level keys of the part that region adds.
var authorityKeys = []string{"runcmd", "write_files"}

// augment builds a message like the one that region makes of user data for a
// server with an SSH certificate authority: the user's part or parts, then one
// that makes the guest trust the authority. It is for measuring and judging
// only; region makes its own.
func augment(raw []byte, authorityPublicKey string) ([]byte, error) {
	addition, err := authorityConfig(authorityPublicKey)
	if err != nil || len(raw) == 0 {
		return addition, err
	}
	parts, err := userParts(raw)
	if err != nil {
		return nil, err
	}
	parts = append(parts, part{
		header: textproto.MIMEHeader{
			"Content-Type":        {typeCloudConfig},
			"Content-Disposition": {`attachment; filename="unikorn-ssh-certificate-authority"`},
		},
		body: addition,
	})
	return assemble(parts)
}

func userParts(raw []byte) ([]part, error) {
	switch {
	case isMultipart(raw):
		return regionParts(raw)
	case regionLabel(raw) == "":
		return nil, ErrUnknownFormat
	}
	return []part{{header: textproto.MIMEHeader{"Content-Type": {Label(raw)}}, body: raw}}, nil
}

func assemble(parts []part) ([]byte, error) {
	var body bytes.Buffer
	writer := multipart.NewWriter(&body)
	boundary := strings.Repeat("b", boundaryLength)
	if err := writer.SetBoundary(boundary); err != nil {
		return nil, fmt.Errorf("setting the boundary: %w", err)
	}
	for _, each := range parts {
		content, err := writer.CreatePart(each.header)
		if err != nil {
			return nil, fmt.Errorf("beginning a part: %w", err)
		}
		if _, err := content.Write(each.body); err != nil {
			return nil, fmt.Errorf("writing a part: %w", err)
		}
	}
	if err := writer.Close(); err != nil {
		return nil, fmt.Errorf("ending the message: %w", err)
	}
	header := fmt.Sprintf("MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=%q\r\n\r\n", boundary)
	return append([]byte(header), body.Bytes()...), nil
}

// authorityConfig is cloud-config that writes two files and reloads the SSH
// daemon.
func authorityConfig(publicKey string) ([]byte, error) {
	file := func(path, content string) map[string]string {
		return map[string]string{"path": path, "owner": "root:root", "permissions": "0644", "content": content}
	}
	reload := strings.TrimSpace(strings.Repeat("reload ", reloadRoom/len("reload ")))
	config, err := yaml.Marshal(map[string]any{
		"write_files": []map[string]string{
			file(authorityFile, publicKey),
			file(daemonFile, "TrustedUserCAKeys "+authorityFile),
		},
		"runcmd": [][]string{{"sh", "-c", reload}},
	})
	if err != nil {
		return nil, fmt.Errorf("writing the part for the SSH certificate authority: %w", err)
	}
	return append([]byte("#cloud-config\n"), config...), nil
}
