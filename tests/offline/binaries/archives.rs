//! Release archives: downloading, resuming, verifying and unpacking them, and loading them from a file.

use std::fs;

use crdproof_envtest::binaries::{BinariesError, Entry, Origin, sideload};
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha512};

use super::World;
use super::server::Server;

fn machine() -> String {
    let os = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
    let arch = if cfg!(target_arch = "x86_64") { "amd64" } else { "arm64" };
    format!("{os}-{arch}")
}

fn printing_program(text: &str) -> Vec<u8> {
    // Incompressible padding, so that an archive can be cut in many places.
    let noise: String = (0..20_000_u32).map(|at| format!("{:x}", at.wrapping_mul(2_654_435_761))).collect();
    format!("#!/bin/sh\necho '{text}'\nexit\n{noise}\n").into_bytes()
}

/// A tar.gz with files of any names, valid or not.
fn tar_gz(files: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (name, content) in files {
        let mut header = tar::Header::new_gnu();
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        tar.append(&header, content.as_slice()).unwrap();
    }
    tar.into_inner().unwrap().finish().unwrap()
}

fn archive(version: &str) -> Vec<u8> {
    tar_gz(&[
        ("controller-tools/envtest/etcd", printing_program("etcd Version: 3.6.8")),
        ("controller-tools/envtest/kube-apiserver", printing_program(&format!("Kubernetes v{version}"))),
        ("controller-tools/envtest/kubectl", b"not wanted".to_vec()),
    ])
}

/// A world whose index lists one archive, and the server of both.
fn serve_archive(version: &str, archive: Vec<u8>, hash: Option<String>) -> (World, Server) {
    let mut world = World::new();
    let server = Server::start();
    let name = format!("envtest-v{version}-{}.tar.gz", machine());
    let hash = hash.unwrap_or_else(|| Sha512::digest(&archive).iter().map(|byte| format!("{byte:02x}")).collect());
    let index =
        format!("releases:\n  v{version}:\n    {name}:\n      hash: {hash}\n      selfLink: {}/a/{name}\n", server.url);
    {
        let mut state = server.state.lock().unwrap();
        state.files.insert("/index.yaml".into(), index.into_bytes());
        state.files.insert(format!("/a/{name}"), archive);
    }
    world.sources.offline = false;
    world.sources.go = Some("/nowhere/go".into());
    world.sources.index = Some(format!("{}/index.yaml", server.url));
    (world, server)
}

#[test]
fn an_archive_is_downloaded_verified_and_cached() {
    let (world, server) = serve_archive("1.29.2", archive("1.29.2"), None);
    let found = world.resolve("1.29").unwrap().remove(0);
    assert_eq!(found.version.to_string(), "1.29.2");
    assert!(matches!(found.origin, Origin::Archive { .. }));
    let mut names: Vec<_> =
        fs::read_dir(&found.folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["etcd", "kube-apiserver", "manifest.json"]);
    assert_eq!(fs::read_dir(world.path("cache/downloads")).unwrap().count(), 0);

    let asked = server.state.lock().unwrap().asked.len();
    world.resolve("1.29.2").unwrap();
    assert_eq!(server.state.lock().unwrap().asked.len(), asked);
    // A selector for the newest patch asks the index, and finds this release in the cache.
    world.resolve("~1.29").unwrap();
    world.resolve("latest").unwrap_err();
    assert_eq!(server.state.lock().unwrap().asked.len(), asked + 2);
}

#[test]
fn an_interrupted_download_is_resumed() {
    let (world, server) = serve_archive("1.29.2", archive("1.29.2"), None);
    server.state.lock().unwrap().cuts = vec![1000, 500];
    world.resolve("1.29").unwrap();
    let asked: Vec<_> = server.state.lock().unwrap().asked.iter().skip(1).map(|(_, range)| range.clone()).collect();
    assert_eq!(asked, [None, Some("bytes=1000-".to_owned()), Some("bytes=1500-".to_owned())]);
}

#[test]
fn a_failed_download_is_resumed_by_the_next_run() {
    let (world, server) = serve_archive("1.29.2", archive("1.29.2"), None);
    server.state.lock().unwrap().cuts = vec![10; 4];
    let error = world.resolve("1.29").unwrap_err().to_string();
    assert!(error.contains("is not complete"), "{error}");
    world.resolve("1.29").unwrap();
    let asked = server.state.lock().unwrap().asked.last().cloned().unwrap();
    assert_eq!(asked.1.as_deref(), Some("bytes=40-"));
}

#[test]
fn an_archive_with_a_wrong_digest_is_refused_and_deleted() {
    let (world, _server) = serve_archive("1.29.2", archive("1.29.2"), Some("a".repeat(128)));
    let error = world.resolve("1.29").unwrap_err().to_string();
    assert!(error.contains("and aaaaaa"), "{error}");
    assert!(world.store.entries().is_empty());
    assert_eq!(fs::read_dir(world.path("cache/downloads")).unwrap().count(), 0);
}

#[test]
fn a_truncated_archive_with_the_right_digest_is_refused() {
    let mut half = archive("1.29.2");
    half.truncate(half.len() / 2);
    let (world, _server) = serve_archive("1.29.2", half, None);
    let error = world.resolve("1.29").unwrap_err().to_string();
    assert!(error.contains("cannot be unpacked: it ends early"), "{error}");
    assert!(world.store.entries().is_empty());
}

#[test]
fn a_mirror_replaces_the_default_source() {
    let (mut world, server) = serve_archive("1.29.2", archive("1.29.2"), None);
    world.sources.mirror = Some(format!("{}/mirror/", server.url));
    let error = world.resolve("1.29").unwrap_err().to_string();
    assert!(error.contains("/mirror/envtest-v1.29.2-") && error.contains("the server answers 404"), "{error}");
    let name = format!("envtest-v1.29.2-{}.tar.gz", machine());
    server.state.lock().unwrap().files.insert(format!("/mirror/{name}"), archive("1.29.2"));
    world.resolve("1.29").unwrap();
}

#[test]
fn offline_sends_no_request() {
    let (mut world, server) = serve_archive("1.29.2", archive("1.29.2"), None);
    world.sources.offline = true;
    world.resolve("1.29").unwrap_err();
    assert!(server.state.lock().unwrap().asked.is_empty());
}

fn load(world: &World, version: &str, archive: &[u8]) -> Result<Entry, BinariesError> {
    sideload(&world.store, version.parse().unwrap(), &mut &*archive, &|_| ())
}

#[test]
fn an_archive_can_be_loaded_from_a_file() {
    let world = World::new();
    let entry = load(&world, "1.29.2", &archive("1.29.2")).unwrap();
    assert!(matches!(entry.manifest.origin, Origin::Sideloaded { .. }));
    assert_eq!(world.resolve("1.29").unwrap()[0].folder, entry.folder);
    assert_eq!(fs::read_dir(world.path("cache/downloads")).unwrap().count(), 0);
}

#[test]
fn an_archive_of_another_release_or_without_binaries_is_refused() {
    let world = World::new();
    let error = load(&world, "1.29.2", &archive("1.29.3")).unwrap_err().to_string();
    assert!(error.ends_with("is not kube-apiserver 1.29.2: it says \"1.29.3\""), "{error}");
    let error =
        load(&world, "1.29.2", &tar_gz(&[("etcd", printing_program("etcd Version: 3"))])).unwrap_err().to_string();
    assert!(error.ends_with("it holds no etcd or no kube-apiserver"), "{error}");
    let error = load(&world, "1.29.2", b"hello").unwrap_err().to_string();
    assert!(error.starts_with("the archive cannot be unpacked: it "), "{error}");
    assert!(world.store.entries().is_empty());
}

#[test]
fn no_path_of_an_archive_leaves_the_cache() {
    let world = World::new();
    let mut files = vec![
        ("../../../../escaped/etcd", printing_program("etcd Version: 3.6.8")),
        ("/kube-apiserver", printing_program("Kubernetes v1.29.2")),
    ];
    files.push(("../evil", b"evil".to_vec()));
    let entry = load(&world, "1.29.2", &tar_gz(&files)).unwrap();
    assert_eq!(fs::read_dir(&entry.folder).unwrap().count(), 3);
    assert!(!world.path("escaped").exists() && !world.path("evil").exists());
}
