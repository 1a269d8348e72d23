# kits/fill writes version and checksums into it.
class Crdproof < Formula
  desc "Tests the versions of Kubernetes CRDs"
  homepage "https://github.com/crdproof/crdproof"
  version "@VERSION@"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "https://github.com/crdproof/crdproof/releases/download/v@VERSION@/crdproof-v@VERSION@-aarch64-apple-darwin.tar.gz"
      sha256 "@aarch64-apple-darwin@"
    end
    on_intel do
      url "https://github.com/crdproof/crdproof/releases/download/v@VERSION@/crdproof-v@VERSION@-x86_64-apple-darwin.tar.gz"
      sha256 "@x86_64-apple-darwin@"
    end
  end

  on_linux do
    on_arm do
      url "https://github.com/crdproof/crdproof/releases/download/v@VERSION@/crdproof-v@VERSION@-aarch64-unknown-linux-musl.tar.gz"
      sha256 "@aarch64-unknown-linux-musl@"
    end
    on_intel do
      url "https://github.com/crdproof/crdproof/releases/download/v@VERSION@/crdproof-v@VERSION@-x86_64-unknown-linux-musl.tar.gz"
      sha256 "@x86_64-unknown-linux-musl@"
    end
  end

  def install
    bin.install "crdproof"
    man1.install Dir["man/*.1"]
    generate_completions_from_executable(bin/"crdproof", "completions")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/crdproof --version")
    assert_match "manifest/one-storage-version", shell_output("#{bin}/crdproof list manifest")
  end
end
