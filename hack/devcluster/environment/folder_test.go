// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestFolderHasOneOwner(t *testing.T) {
	folder := Folder(filepath.Join(t.TempDir(), "run"))
	lock, err := folder.lock()
	if err != nil {
		t.Fatal(err)
	}
	_, err = folder.lock()
	running := (*RunningError)(nil)
	if !errors.As(err, &running) || running.PID != os.Getpid() {
		t.Errorf("second owner: %v", err)
	}
	if err == nil || !strings.Contains(err.Error(), "make down") {
		t.Errorf("the message does not say what to do: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if lock, err = folder.lock(); err != nil {
		t.Errorf("after the first has ended: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Error(err)
	}
}

func TestClearLeavesWhatIsNotOurs(t *testing.T) {
	folder := Folder(t.TempDir())
	if err := folder.prepare(); err != nil {
		t.Fatal(err)
	}
	ours := []string{"simulator.url", "alpha-editor.kubeconfig", "admin.kubeconfig", "pki/ca.crt", "pids/etcd.pid"}
	others := []string{"notes", "mine.kubeconfig", "logs/etcd.log"}
	for _, name := range append(ours, others...) {
		if err := os.WriteFile(folder.path(name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := folder.clear(); err != nil {
		t.Fatal(err)
	}
	for _, name := range ours {
		if _, err := os.Stat(folder.path(name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range others {
		if _, err := os.Stat(folder.path(name)); err != nil {
			t.Error(err)
		}
	}
}

func TestDownWithoutEnvironment(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	for _, folder := range []string{path, t.TempDir()} {
		stopped, err := Down(t.Context(), folder, time.Minute)
		if stopped || err != nil {
			t.Errorf("%v, %v", stopped, err)
		}
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder was made: %v", err)
	}
}

func TestPortsAreKeptUntilReleased(t *testing.T) {
	reserved, err := reservePorts("a", "b")
	if err != nil {
		t.Fatal(err)
	}
	if reserved.number("a") == reserved.number("b") {
		t.Error("the same port twice")
	}
	var config net.ListenConfig
	if _, err := config.Listen(t.Context(), "tcp", reserved.address("a")); err == nil {
		t.Fatal("a reserved port was free")
	}
	if err := reserved.release("a", "b", "unknown"); err != nil {
		t.Fatal(err)
	}
	listener, err := config.Listen(t.Context(), "tcp", reserved.address("a"))
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Error(err)
	}
	if err := reserved.release("a"); err != nil {
		t.Errorf("released twice: %v", err)
	}
}

func TestStartNamesWhatIsNotBuilt(t *testing.T) {
	folder := t.TempDir()
	_, err := Start(t.Context(), InClone(folder, filepath.Join(folder, ".run")))
	if err == nil || !strings.Contains(err.Error(), "etcd") || !strings.Contains(err.Error(), "make control-plane build") {
		t.Errorf("error %v", err)
	}
}

func TestEveryPersonOfTheFixtureHasAKubeconfigOfTheirOwn(t *testing.T) {
	folder, err := absolute(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	reserved, err := reservePorts(portNames...)
	if err != nil {
		t.Fatal(err)
	}
	e := &Environment{Folder: folder, ports: reserved}
	if err := errors.Join(e.ports.release(portNames...), e.prepare()); err != nil {
		t.Fatal(err)
	}
	if e.issued, err = issue(folder); err != nil {
		t.Fatal(err)
	}
	if err := e.writeKubeconfigs(); err != nil {
		t.Fatal(err)
	}
	for _, person := range append(people(), Admin) {
		info, err := os.Stat(e.Kubeconfig(person))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", person, info, err)
		}
		config, err := e.ClientConfig(person)
		if err != nil || config.Host != "https://"+e.ports.address(kubeAPIServer) {
			t.Errorf("%s: %v, %v", person, config, err)
		}
	}
}
