//! A conformance harness for Kubernetes CRD versioning.
//!
//! A *subject* (CRDs, their converter, samples) is put on trial and gets a verdict with evidence.
//! Everything that touches the world only acts and records observations; every check is a pure
//! function from evidence to a verdict; everything after that is rendering:
//!
//! ```text
//! subject ─► plan ─► act ─► observations ─► judge ─► findings ─► report
//! ```
//!
//! In a test of your own:
//!
//! ```
//! use crdproof::input::{self, Text};
//! use crdproof::run::{Options, SUITES, Selection, Settings, judge, load_suite, plan};
//! use std::num::NonZeroUsize;
//!
//! let crd = r#"
//! apiVersion: apiextensions.k8s.io/v1
//! kind: CustomResourceDefinition
//! metadata: {name: widgets.example.com}
//! spec:
//!   group: example.com
//!   scope: Namespaced
//!   names: {kind: Widget, listKind: WidgetList, plural: widgets, singular: widget}
//!   versions:
//!   - {name: v1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
//! "#;
//! let crds = vec![Text { name: "crd.yaml".into(), text: crd.into() }];
//! let subject = input::from_texts(crds, vec![], None)?;
//!
//! let (name, text) = SUITES.iter().find(|(name, _)| *name == "quick").unwrap();
//! let suites = vec![load_suite(name, name, text)?];
//! let settings = Settings { selection: Selection { suites, ..Selection::default() }, seed: 1, ..Settings::default() };
//! let plan = plan(&subject, &settings);
//!
//! let today = jiff::civil::date(2026, 11, 16);
//! let report = judge(&plan, &Options { jobs: NonZeroUsize::MIN, today });
//!
//! assert_eq!(report.findings[0].check, "manifest/one-storage-version");
//! assert_eq!(report.findings[0].location.as_ref().unwrap().line, 10);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// Pure: values in, values out.
pub mod names;
pub mod document;
pub mod kubernetes;
pub mod schema;
pub mod generate;
pub mod field_map;
pub mod subject;
pub mod observe;
pub mod checks;
pub mod report;

// Acting: the world, and no opinions.
pub mod input;
pub mod cluster;
pub mod convert;
#[cfg(feature = "cluster")]
pub mod tap;
#[cfg(feature = "cluster")]
pub mod journey;

// Both together.
pub mod run;
