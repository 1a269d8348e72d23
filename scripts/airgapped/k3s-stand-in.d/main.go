// Answers like `k3s server` does, in its container or as a process, with a plain etcd and kube-apiserver beside it: the
// same arguments, port, files and log lines. For tests of what starts k3s, where k3s cannot be had.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The release of Kubernetes inside; set by the linker.
var release = "0.0.0"

func main() {
	// The image of k3s has a cat, and people read the kubeconfig with it.
	if filepath.Base(os.Args[0]) == "cat" {
		cat(os.Args[1:])
		return
	}
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		fmt.Printf("k3s version v%s+k3s1 (stand-in)\n", release)
		return
	}
	if err := run(os.Args[1:]); err != nil {
		say("fatal", err.Error())
		os.Exit(1)
	}
}

func cat(files []string) {
	for _, name := range files {
		file, err := os.Open(name)
		if err == nil {
			_, err = io.Copy(os.Stdout, file)
			file.Close()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "cat:", err)
			os.Exit(1)
		}
	}
}

func say(level, message string) {
	fmt.Fprintf(os.Stderr, "time=%q level=%s msg=%q\n", time.Now().UTC().Format(time.RFC3339), level, message)
}

func run(arguments []string) error {
	begin := time.Now()
	ends := make(chan os.Signal, 2)
	signal.Notify(ends, syscall.SIGTERM, syscall.SIGINT)
	options, err := parse(arguments)
	if err != nil {
		return err
	}
	say("info", fmt.Sprintf("Starting k3s v%s (crdproof stand-in)", release))
	made, err := certify(options)
	if err != nil {
		return err
	}

	var programs processes
	defer programs.stop()
	if options.datastore == "" {
		ports, err := freePorts(2)
		if err != nil {
			return err
		}
		options.datastore = "http://127.0.0.1:" + ports[0]
		if err := programs.start("etcd", etcdFlags(options, "http://127.0.0.1:"+ports[1])); err != nil {
			return err
		}
	}
	if err := programs.start("kube-apiserver", apiserverFlags(options)); err != nil {
		return err
	}

	ready := make(chan error, 1)
	go func() { ready <- wait(made) }()
	for {
		select {
		case err := <-ready:
			if err == nil {
				err = publish(options, made)
			}
			if err != nil {
				return err
			}
			say("info", "Run: k3s kubectl")
			say("info", "k3s is up and running")
			// Said by its network, once there is a node; many wait for this line and not for the other.
			say("info", "Node controller sync successful")
			say("info", fmt.Sprintf("ready after %.1f s", time.Since(begin).Seconds()))
		case ended := <-programs.ended():
			return fmt.Errorf("%s ended: %s", ended.name, ended.state)
		case signal := <-ends:
			say("info", fmt.Sprintf("Shutdown request received: %s", signal))
			return nil
		}
	}
}

// Several of us may run on one machine.
func freePorts(count int) ([]string, error) {
	var ports []string
	for len(ports) < count {
		held, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer held.Close()
		ports = append(ports, strconv.Itoa(held.Addr().(*net.TCPAddr).Port))
	}
	return ports, nil
}

func etcdFlags(options options, peers string) []string {
	return []string{
		"--data-dir=" + options.state + "/db/etcd",
		"--listen-client-urls=" + options.datastore,
		"--advertise-client-urls=" + options.datastore,
		"--listen-peer-urls=" + peers,
		"--initial-advertise-peer-urls=" + peers,
		"--initial-cluster=default=" + peers,
		"--unsafe-no-fsync",
		"--log-level=warn",
	}
}

// As in k3s, an argument of the user's replaces ours of that name.
func apiserverFlags(options options) []string {
	in := filesIn(options.state)
	flags := [][2]string{
		{"allow-privileged", "true"},
		{"anonymous-auth", "false"},
		{"authorization-mode", "Node,RBAC"},
		{"bind-address", options.address},
		{"cert-dir", options.state + "/tls/temporary-certs"},
		{"client-ca-file", in.ca},
		// There is no controller manager here that would make the tokens this plugin waits for.
		{"disable-admission-plugins", "ServiceAccount"},
		{"enable-admission-plugins", "NodeRestriction"},
		{"etcd-servers", options.datastore},
		{"secure-port", strconv.Itoa(options.port)},
		{"service-account-issuer", "https://kubernetes.default.svc.cluster.local"},
		{"service-account-key-file", in.serviceKey},
		{"service-account-signing-key-file", in.serviceKey},
		{"service-cluster-ip-range", "10.43.0.0/16"},
		{"tls-cert-file", in.server},
		{"tls-private-key-file", in.serverKey},
	}
	// Open to everybody by default then; refused as a flag later.
	if minor, err := strconv.Atoi(strings.Split(release, ".")[1]); err == nil && minor < 20 {
		flags = append(flags, [2]string{"insecure-port", "0"})
	}
	said := map[string]bool{}
	for _, argument := range options.apiserver {
		said[strings.SplitN(argument, "=", 2)[0]] = true
	}
	var line []string
	for _, flag := range flags {
		if !said[flag[0]] {
			line = append(line, "--"+flag[0]+"="+flag[1])
		}
	}
	for _, argument := range options.apiserver {
		line = append(line, "--"+argument)
	}
	return line
}

// Waits until the API server is ready to serve the administrator.
func wait(made certificates) error {
	client := made.client
	pair, err := tls.X509KeyPair(client.certificate, client.key)
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(client.authority)
	trust := &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: roots}
	asker := http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{TLSClientConfig: trust, DisableKeepAlives: true}}
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		answer, err := asker.Get(fmt.Sprintf("https://127.0.0.1:%d/readyz", made.port))
		if err != nil {
			continue
		}
		answer.Body.Close()
		if answer.StatusCode == http.StatusOK {
			return nil
		}
	}
	return errors.New("the API server is not ready after two minutes; see its log above")
}

// Writes the kubeconfig whole or not at all, since others look for it while we run.
func publish(options options, made certificates) error {
	if err := os.MkdirAll(filepath.Dir(options.kubeconfig), 0o755); err != nil {
		return err
	}
	beside := options.kubeconfig + ".new"
	if err := os.WriteFile(beside, made.kubeconfig(), options.mode); err != nil {
		return err
	}
	if err := os.Chmod(beside, options.mode); err != nil {
		return err
	}
	if err := os.Rename(beside, options.kubeconfig); err != nil {
		return err
	}
	say("info", "Wrote kubeconfig "+options.kubeconfig)
	return nil
}

// The programs we run, in the order of their start.
type processes struct {
	running []*exec.Cmd
	deaths  chan death
}

type death struct{ name, state string }

func (all *processes) ended() <-chan death { return all.deaths }

func (all *processes) start(name string, flags []string) error {
	if all.deaths == nil {
		all.deaths = make(chan death, 2)
	}
	say("info", fmt.Sprintf("Running %s %s", name, strings.Join(flags, " ")))
	self, err := os.Executable()
	if err != nil {
		return err
	}
	command := exec.Command(filepath.Join(filepath.Dir(self), name), flags...)
	command.Stdout, command.Stderr = os.Stderr, os.Stderr
	// A Ctrl-C in a terminal reaches everybody in the group; the order of the end is ours to keep.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := command.Start(); err != nil {
		return err
	}
	all.running = append(all.running, command)
	go func() {
		_ = command.Wait()
		all.deaths <- death{name, command.ProcessState.String()}
	}()
	return nil
}

// Ends them in the reverse order, each within 4 seconds: docker kills everybody after 10.
func (all *processes) stop() {
	for i := len(all.running) - 1; i >= 0; i-- {
		process := all.running[i].Process
		if process.Signal(syscall.SIGTERM) != nil {
			continue
		}
		deadline := time.AfterFunc(4*time.Second, func() { _ = process.Kill() })
		for process.Signal(syscall.Signal(0)) == nil {
			time.Sleep(10 * time.Millisecond)
		}
		deadline.Stop()
	}
}
