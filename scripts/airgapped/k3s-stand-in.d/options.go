package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

type options struct {
	apiserver  []string
	names      []string
	address    string
	port       int
	state      string
	datastore  string
	kubeconfig string
	mode       os.FileMode
}

// Flags of k3s that mean nothing here, and whether a value follows. Others are refused, as k3s refuses what it does
// not know: a slip in an argument must not pass here and fail there.
var idle = map[string]bool{
	"cluster-cidr":                true,
	"cluster-init":                false,
	"config":                      true,
	"debug":                       false,
	"disable":                     true,
	"disable-agent":               false,
	"disable-cloud-controller":    false,
	"disable-helm-controller":     false,
	"disable-kube-proxy":          false,
	"disable-network-policy":      false,
	"disable-scheduler":           false,
	"egress-selector-mode":        true,
	"flannel-backend":             true,
	"kube-controller-manager-arg": true,
	"kube-scheduler-arg":          true,
	"kubelet-arg":                 true,
	"node-name":                   true,
	"snapshotter":                 true,
	"token":                       true,
}

func parse(arguments []string) (options, error) {
	found := options{
		address: "0.0.0.0", port: 6443, state: "/var/lib/rancher/k3s/server", kubeconfig: "/etc/rancher/k3s/k3s.yaml", mode: 0o600,
	}
	if file := os.Getenv("K3S_KUBECONFIG_OUTPUT"); file != "" {
		found.kubeconfig = file
	}
	found.datastore = os.Getenv("K3S_DATASTORE_ENDPOINT")
	mode := os.Getenv("K3S_KUBECONFIG_MODE")
	if len(arguments) == 0 || arguments[0] != "server" {
		return found, errors.New("the stand-in for k3s knows one command: server")
	}
	for rest := arguments[1:]; len(rest) > 0; {
		word := rest[0]
		rest = rest[1:]
		name := strings.TrimLeft(word, "-")
		if name == word || name == "" {
			return found, fmt.Errorf("unexpected argument: %s", word)
		}
		name, value, stated := strings.Cut(name, "=")
		follows, known := idle[name]
		switch name {
		case "kube-apiserver-arg", "tls-san", "datastore-endpoint", "write-kubeconfig", "write-kubeconfig-mode", "bind-address",
			"https-listen-port", "data-dir":
			follows, known = true, true
		}
		if !known {
			return found, fmt.Errorf("flag provided but not defined: -%s", name)
		}
		if follows && !stated {
			if len(rest) == 0 {
				return found, fmt.Errorf("flag needs an argument: -%s", name)
			}
			value, rest = rest[0], rest[1:]
		}
		switch name {
		case "kube-apiserver-arg":
			found.apiserver = append(found.apiserver, strings.TrimLeft(value, "-"))
		case "tls-san":
			found.names = append(found.names, strings.Split(value, ",")...)
		case "datastore-endpoint":
			// Only an etcd can be used as it is; what k3s would do with a database, our etcd does.
			if strings.HasPrefix(value, "http://") || strings.HasPrefix(value, "https://") {
				found.datastore = value
			}
		case "write-kubeconfig":
			found.kubeconfig = value
		case "write-kubeconfig-mode":
			mode = value
		case "bind-address":
			found.address = value
		case "https-listen-port":
			port, err := strconv.Atoi(value)
			if err != nil {
				return found, err
			}
			found.port = port
		case "data-dir":
			found.state = value + "/server"
		}
	}
	if mode != "" {
		bits, err := strconv.ParseUint(mode, 8, 32)
		if err != nil {
			return found, fmt.Errorf("%q is not a mode of a file", mode)
		}
		found.mode = os.FileMode(bits)
	}
	return found, nil
}
