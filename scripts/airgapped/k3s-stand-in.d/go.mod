module crdproof/k3s-stand-in

go 1.21
