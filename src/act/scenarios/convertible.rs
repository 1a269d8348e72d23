//! Which objects a converter takes at all.

use std::sync::Arc;

use crate::converter::Converter;
use crate::converter::endpoint::Endpoint;
use crate::evidence::LeftOut;
use crate::subject::Crd;
use crate::subject::objects::Planned;

/// Splits objects into those that the converter takes to every version and back, and the others. An object that it refuses
/// makes every list of its kind fail, so that nothing else could be seen.
pub(super) async fn convertible(
    crd: &Crd,
    converter: &Arc<dyn Endpoint>,
    objects: Vec<Planned>,
) -> (Vec<Planned>, Vec<LeftOut>) {
    let (crd, endpoint, all) = (crd.clone(), Arc::clone(converter), objects.clone());
    let split = tokio::task::spawn_blocking(move || {
        let converter = Converter::asking(&crd, &*endpoint);
        let refusal = |planned: &Planned| {
            let mut object = planned.object.clone();
            object["status"] = planned.status.clone().unwrap_or_default();
            let others =
                crd.versions.iter().map(|version| version.name.as_str()).filter(|name| *name != planned.version);
            others
                .map(|to| {
                    let there = converter.convert(&object, &planned.version, to)?;
                    converter.convert(there.served(), to, &planned.version)
                })
                .find_map(Result::err)
        };
        let (mut usable, mut left_out) = (Vec::new(), Vec::new());
        for planned in all {
            match refusal(&planned) {
                None => usable.push(planned),
                Some(why) => {
                    let Planned { version, name, is_sample, .. } = planned;
                    left_out.push(LeftOut { version, name, is_sample, why });
                }
            }
        }
        (usable, left_out)
    });
    // A converter that panics is seen by the scenarios themselves.
    split.await.unwrap_or((objects, Vec::new()))
}
