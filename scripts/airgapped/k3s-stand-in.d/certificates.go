package main

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// The files of a server, in its data folder.
type files struct{ ca, caKey, server, serverKey, serviceKey string }

func filesIn(state string) files {
	tls := state + "/tls/"
	return files{
		tls + "server-ca.crt", tls + "server-ca.key", tls + "serving-kube-apiserver.crt", tls + "serving-kube-apiserver.key",
		tls + "service.key",
	}
}

// Everything that a client needs, as PEM.
type identity struct{ authority, certificate, key []byte }

type certificates struct {
	client identity
	port   int
}

// Makes the certificates. The authority and the key of service accounts outlive a restart of the container, so that
// a kubeconfig copied out before stays good; the server's certificate follows its addresses.
func certify(options options) (certificates, error) {
	none, names, in := certificates{}, options.names, filesIn(options.state)
	if err := os.MkdirAll(filepath.Dir(in.ca), 0o700); err != nil {
		return none, err
	}
	authority, signer, err := authority(in)
	if err != nil {
		return none, err
	}
	if err := serviceKey(in); err != nil {
		return none, err
	}

	server := &x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames: []string{
			"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
		},
		IPAddresses: []net.IP{net.IPv4(10, 43, 0, 1)},
	}
	if host, err := os.Hostname(); err == nil {
		names = append(names, host)
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return none, err
	}
	for _, address := range addresses {
		if network, ok := address.(*net.IPNet); ok {
			server.IPAddresses = append(server.IPAddresses, network.IP)
		}
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			server.IPAddresses = append(server.IPAddresses, ip)
		} else if name != "" {
			server.DNSNames = append(server.DNSNames, name)
		}
	}
	certificate, key, err := issue(server, authority, signer)
	if err != nil {
		return none, err
	}
	if err := write(in.server, certificate); err != nil {
		return none, err
	}
	if err := write(in.serverKey, key); err != nil {
		return none, err
	}

	admin := &x509.Certificate{
		Subject:     pkix.Name{CommonName: "system:admin", Organization: []string{"system:masters"}},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	certificate, key, err = issue(admin, authority, signer)
	trusted := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.Raw})
	return certificates{identity{trusted, certificate, key}, options.port}, err
}

func authority(in files) (*x509.Certificate, crypto.Signer, error) {
	certificate, err := read(in.ca)
	key, keyErr := read(in.caKey)
	if err == nil && keyErr == nil {
		parsed, err := x509.ParseCertificate(certificate)
		if err != nil {
			return nil, nil, err
		}
		signer, err := x509.ParseECPrivateKey(key)
		return parsed, signer, err
	}
	signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: fmt.Sprintf("k3s-server-ca@%d", time.Now().Unix())},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	signed, err := sign(template, template, signer.Public(), signer)
	if err != nil {
		return nil, nil, err
	}
	secret, err := x509.MarshalECPrivateKey(signer)
	if err != nil {
		return nil, nil, err
	}
	if err := write(in.caKey, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret})); err != nil {
		return nil, nil, err
	}
	if err := write(in.ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})); err != nil {
		return nil, nil, err
	}
	parsed, err := x509.ParseCertificate(signed)
	return parsed, signer, err
}

func serviceKey(in files) error {
	if _, err := os.Stat(in.serviceKey); err == nil {
		return nil
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	return write(in.serviceKey, pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
}

func issue(template, authority *x509.Certificate, signer crypto.Signer) (certificate, secret []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	signed, err := sign(template, authority, key.Public(), signer)
	if err != nil {
		return nil, nil, err
	}
	encoded, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	certificate = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})
	return certificate, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: encoded}), nil
}

func sign(template, authority *x509.Certificate, key crypto.PublicKey, signer crypto.Signer) ([]byte, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	template.SerialNumber = serial
	// Clocks of two machines differ.
	template.NotBefore = time.Now().Add(-time.Hour)
	template.NotAfter = time.Now().AddDate(1, 0, 0)
	return x509.CreateCertificate(rand.Reader, template, authority, key, signer)
}

func read(file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New(file + " is not PEM")
	}
	return block.Bytes, nil
}

func write(file string, text []byte) error { return os.WriteFile(file, text, 0o600) }

func (made certificates) kubeconfig() []byte {
	var text bytes.Buffer
	encode := base64.StdEncoding.EncodeToString
	fmt.Fprintf(&text, `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: %s
    server: https://127.0.0.1:%d
  name: default
contexts:
- context:
    cluster: default
    user: default
  name: default
current-context: default
kind: Config
preferences: {}
users:
- name: default
  user:
    client-certificate-data: %s
    client-key-data: %s
`, encode(made.client.authority), made.port, encode(made.client.certificate), encode(made.client.key))
	return text.Bytes()
}
