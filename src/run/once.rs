//! Data that several checks of a CRD read.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::checks::Verdict;
use crate::evidence::{ConversionRun, Exchange};
use crate::subject::Crd;
use crdproof_schema::structural::Secrets;
use crdproof_schema::structural::compare::{Delta, compare};

/// Data that several checks read, computed once for each CRD by the first check that needs it.
#[derive(Default)]
pub(super) struct Once {
    pub(super) searches: ByCrd<Result<Searched, String>>,
    pub(super) deltas: ByCrd<Vec<(String, Vec<Delta>)>>,
    pub(super) exchanges: ByCrd<Vec<Exchange>>,
    pub(super) secrets: ByCrd<Secrets>,
}

/// Verdicts by check, and the conversion runs of their failures.
pub(super) type Searched = (BTreeMap<&'static str, Verdict>, Arc<Vec<ConversionRun>>);

type Cell<T> = Arc<OnceLock<Arc<T>>>;

pub(super) struct ByCrd<T>(Mutex<BTreeMap<String, Cell<T>>>);

impl<T> Default for ByCrd<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> ByCrd<T> {
    pub(super) fn of(&self, crd: &str, make: impl FnOnce() -> T) -> Arc<T> {
        let cell = {
            let mut cells = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(cells.entry(crd.to_owned()).or_default())
        };
        // Computed outside the lock, so that other CRDs need not wait.
        Arc::clone(cell.get_or_init(|| Arc::new(make())))
    }
}

/// The differences of every version that has a schema in both states.
pub(super) fn compare_versions(old: &Crd, new: &Crd) -> Vec<(String, Vec<Delta>)> {
    let pairs = new.versions.iter().filter_map(|version| {
        let before = old.version(&version.name)?.schema.as_ref()?;
        Some((version.name.clone(), compare(before, version.schema.as_ref()?)))
    });
    pairs.collect()
}
