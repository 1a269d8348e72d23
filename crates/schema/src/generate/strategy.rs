//! Generated objects as a strategy of proptest.

use proptest::prelude::{Strategy, any};
use proptest::strategy::{NewTree, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::Value;

use super::case::Phase;
use super::generator::Generator;
use super::shrink::candidates;

/// Random objects of a generator. They shrink like all generated objects, see [`shrink`](super::shrink).
///
/// ```
/// use crdproof_schema::document::{Sources, parse};
/// use crdproof_schema::generate::{Context, Generator, Options, strategy};
/// use crdproof_schema::kubernetes::KubeVersion;
/// use crdproof_schema::structural::Schema;
/// use proptest::test_runner::{Config, TestRunner};
///
/// let mut sources = Sources::default();
/// let id = sources.add("schema", "{type: object, properties: {spec: {type: object, properties: {on: {type: boolean}}}}}");
/// let schema = Schema::read(&parse(&sources, id).unwrap()[0]);
/// let context = Context::new("example.com", "v1", "Widget");
/// let generator = Generator::new(&schema, KubeVersion::minor(36), &context, Options::default()).unwrap();
///
/// let mut runner = TestRunner::new(Config::with_cases(16));
/// let kept = runner.run(&strategy(&generator), |object| Ok(assert_eq!(object["kind"], "Widget")));
/// assert!(kept.is_ok());
/// ```
pub fn strategy<'g, 'a>(generator: &'g Generator<'a>) -> Objects<'g, 'a> {
    Objects { generator }
}

/// The strategy of [`strategy`].
#[derive(Debug, Clone, Copy)]
pub struct Objects<'g, 'a> {
    generator: &'g Generator<'a>,
}

/// An object, and the smaller ones that are not tried yet.
#[derive(Debug)]
pub struct Tree<'g, 'a> {
    generator: &'g Generator<'a>,
    current: Value,
    /// The smallest object that is known to fail.
    failing: Value,
    smaller: std::vec::IntoIter<Value>,
}

impl<'g, 'a> Strategy for Objects<'g, 'a> {
    type Tree = Tree<'g, 'a>;
    type Value = Value;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let index = any::<u64>().new_tree(runner)?.current();
        let case = self.generator.case(Phase::Random, 0, index).ok_or("no object was found for this schema")?;
        let failing = case.object.clone();
        Ok(Tree { generator: self.generator, current: case.object, failing, smaller: Vec::new().into_iter() })
    }
}

impl Tree<'_, '_> {
    fn advance(&mut self) -> bool {
        let next = self.smaller.next();
        let is_smaller = next.is_some();
        self.current = next.unwrap_or_else(|| self.failing.clone());
        is_smaller
    }
}

impl ValueTree for Tree<'_, '_> {
    type Value = Value;

    fn current(&self) -> Value {
        self.current.clone()
    }

    fn simplify(&mut self) -> bool {
        self.failing = self.current.clone();
        self.smaller = candidates(self.generator, &self.failing).into_iter();
        self.advance()
    }

    fn complicate(&mut self) -> bool {
        self.advance()
    }
}
