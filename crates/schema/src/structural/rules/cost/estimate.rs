//! The estimate of an expression: its worst case over all objects that fit the schema and a request.

use std::rc::Rc;

use kube_cel::cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue, SelectExpr};

use super::super::macros::NAMES;
use super::calls;
use super::declared::{Declared, Kind};
use super::size::Size;

/// Functions whose names have dots.
const NAMESPACES: [&str; 8] = ["cidr", "format", "ip", "jsonpatch", "math", "optional", "sets", "strings"];

/// The location of a value below `self`, from which a server reads its bounds.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    /// The value is computed.
    Nowhere,
    At(&'a Declared),
    /// The value has a path that leads nowhere.
    Lost,
}

#[derive(Clone)]
pub(super) enum Type<'a> {
    Declared(&'a Declared),
    Plain(Kind),
    List(Rc<Type<'a>>),
    Map(Rc<Type<'a>>),
    Optional(Rc<Type<'a>>),
    /// A type of the library, such as a quantity.
    Named(&'static str),
    /// We do not infer it.
    Unknown,
}

impl Type<'_> {
    pub(super) fn kind(&self) -> Option<Kind> {
        match self {
            Self::Declared(declared) => Some(declared.kind),
            Self::Plain(kind) => Some(*kind),
            Self::List(_) => Some(Kind::List),
            Self::Map(_) => Some(Kind::Map),
            Self::Optional(_) | Self::Named(_) | Self::Unknown => None,
        }
    }

    pub(super) fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown)
    }

    /// The type of items or values.
    pub(super) fn element(&self) -> Self {
        match self {
            Self::Declared(declared) => declared.element.as_deref().map_or(Self::Unknown, Self::Declared),
            Self::List(element) | Self::Map(element) => (**element).clone(),
            Self::Plain(Kind::Dyn) => Self::Plain(Kind::Dyn),
            Self::Plain(_) | Self::Optional(_) | Self::Named(_) | Self::Unknown => Self::Unknown,
        }
    }

    /// The type of a field, or of the field in an optional.
    pub(super) fn field(&self, name: &str) -> Self {
        match self {
            Self::Declared(declared) if declared.kind == Kind::Object => {
                declared.fields.get(name).map_or(Self::Unknown, Self::Declared)
            }
            Self::Optional(inner) => inner.field(name),
            other if other.kind() == Some(Kind::Dyn) => Self::Plain(Kind::Dyn),
            other => other.element(),
        }
    }

    /// Returns whether values have a constant size.
    fn is_scalar(&self) -> bool {
        match self {
            Self::Optional(inner) => inner.is_scalar(),
            other => matches!(
                other.kind(),
                Some(Kind::Bool | Kind::Double | Kind::Duration | Kind::Int | Kind::Timestamp | Kind::Uint)
            ),
        }
    }
}

/// The sizes of keys and values in a list or map.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    key: Size,
    pub(super) value: Size,
    is_list: bool,
}

impl Entry {
    pub(super) fn union(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        let (one, other) = (one?, other?);
        Some(Self { key: one.key.union(other.key), value: one.value.union(other.value), is_list: one.is_list })
    }
}

/// An expression with its cost, and all that estimates need to know of its value.
#[derive(Clone)]
pub(super) struct Node<'a> {
    pub(super) cost: u64,
    pub(super) place: Place<'a>,
    pub(super) ty: Type<'a>,
    pub(super) size: Option<Size>,
    pub(super) entry: Option<Entry>,
}

impl<'a> Node<'a> {
    /// A computed value of a size, if that is known.
    pub(super) fn computed(cost: u64, ty: Type<'a>, size: Option<Size>) -> Self {
        let size = size.or_else(|| ty.is_scalar().then(|| Size::exactly(1)));
        Self { cost, place: Place::Nowhere, ty, size, entry: None }
    }

    /// A value at a place.
    pub(super) fn placed(cost: u64, place: Place<'a>, ty: Type<'a>) -> Self {
        let bounds = match place {
            Place::At(declared) => Some(Size::up_to(declared.max_elements)),
            Place::Nowhere | Place::Lost => None,
        };
        Self { place, ..Self::computed(cost, ty, bounds) }
    }

    fn literal(cost: u64, ty: Type<'a>, size: usize) -> Self {
        Self::computed(cost, ty, Some(Size::exactly(size)))
    }
}

/// Estimates expressions over one schema node.
pub(super) struct Estimator<'a> {
    root: &'a Declared,
    old: Type<'a>,
    locals: Vec<(String, Node<'a>)>,
    /// False after something whose cost is not known here. It counts as 0, so that the estimate is never too high.
    pub(super) exact: bool,
}

impl<'a> Estimator<'a> {
    pub(super) fn new(root: &'a Declared, optional_old: bool) -> Self {
        let declared = Type::Declared(root);
        let old = if optional_old { Type::Optional(Rc::new(declared)) } else { declared };
        Self { root, old, locals: Vec::new(), exact: true }
    }

    pub(super) fn visit(&mut self, node: &IdedExpr) -> Node<'a> {
        match &node.expr {
            Expr::Literal(literal) => constant(literal),
            Expr::Ident(name) => self.ident(name),
            Expr::Select(select) => self.select(select),
            Expr::Call(call) => self.call(call),
            Expr::Comprehension(fold) => self.comprehension(fold),
            Expr::List(list) => {
                let items: Vec<_> = list.elements.iter().map(|item| self.visit(item)).collect();
                self.exact &= list.optional_indices.is_empty();
                let entry = Entry { key: Size::exactly(1), value: self.spread(&items), is_list: true };
                let list = Type::List(Rc::new(common(&items)));
                Node { entry: Some(entry), ..Node::literal(total(&items).saturating_add(10), list, items.len()) }
            }
            Expr::Map(map) => {
                let pairs = map.entries.iter().filter_map(|entry| match &entry.expr {
                    EntryExpr::MapEntry(entry) => Some((self.visit(&entry.key), self.visit(&entry.value))),
                    EntryExpr::StructField(_) => None,
                });
                let (keys, values): (Vec<_>, Vec<_>) = pairs.unzip();
                let entry = Entry { key: self.spread(&keys), value: self.spread(&values), is_list: false };
                let cost = total(&keys).saturating_add(total(&values)).saturating_add(30);
                let map = Type::Map(Rc::new(common(&values)));
                Node { entry: Some(entry), ..Node::literal(cost, map, keys.len()) }
            }
            Expr::Struct(_) | Expr::Unspecified => self.unknown(0),
        }
    }

    /// An expression whose cost is at least this, and otherwise not known.
    pub(super) fn unknown(&mut self, cost: u64) -> Node<'a> {
        self.exact = false;
        Node::computed(cost, Type::Unknown, None)
    }

    /// The size as a server assumes it. Where it depends on a type that we do not infer, the smallest one.
    pub(super) fn size(&mut self, node: &Node<'a>) -> Size {
        match node.size {
            Some(size) => size,
            None if node.ty.is_unknown() => {
                self.exact = false;
                Size::exactly(0)
            }
            None => Size::UNKNOWN,
        }
    }

    /// The bounds of the items of a list or map literal.
    fn spread(&mut self, items: &[Node<'a>]) -> Size {
        let sizes: Vec<_> = items.iter().map(|item| self.size(item)).collect();
        sizes.into_iter().reduce(Size::union).unwrap_or(Size::exactly(0))
    }

    fn ident(&mut self, name: &str) -> Node<'a> {
        if let Some((_, local)) = self.locals.iter().rev().find(|(known, _)| known == name) {
            return Node { cost: 1, ..local.clone() };
        }
        let ty = match name {
            "self" => Type::Declared(self.root),
            "oldSelf" => self.old.clone(),
            _ => Type::Plain(Kind::Type),
        };
        // A server takes the bounds of `self` for every variable.
        Node::placed(1, Place::At(self.root), ty)
    }

    /// The place of a part. A server takes a first step that does not begin at a variable for one to `self`.
    pub(super) fn part(&self, place: Place<'a>, step: impl Fn(&'a Declared) -> Option<&'a Declared>) -> Place<'a> {
        match place {
            Place::Nowhere => Place::At(self.root),
            Place::At(declared) => step(declared).map_or(Place::Lost, Place::At),
            Place::Lost => Place::Lost,
        }
    }

    fn select(&mut self, select: &SelectExpr) -> Node<'a> {
        let operand = self.visit(&select.operand);
        if select.test {
            return Node::computed(operand.cost, Type::Plain(Kind::Bool), None);
        }
        self.exact &= !operand.ty.is_unknown();
        let ty = operand.ty.field(&select.field);
        let (ty, own) = match (&operand.ty, operand.ty.kind()) {
            (Type::Optional(_), _) => (Type::Optional(Rc::new(ty)), 0),
            (_, Some(Kind::Map | Kind::Object)) => (ty, 1),
            _ => (ty, 0),
        };
        let place = self.part(operand.place, |declared| declared.fields.get(&select.field));
        Node::placed(operand.cost.saturating_add(own), place, ty)
    }

    fn call(&mut self, call: &CallExpr) -> Node<'a> {
        let is_macro = call.target.is_some() && NAMES.contains(&call.func_name.as_str());
        let namespace = call.target.as_deref().and_then(|target| match &target.expr {
            Expr::Ident(name) if NAMESPACES.contains(&name.as_str()) => Some(name),
            _ => None,
        });
        let target = call.target.as_deref().filter(|_| namespace.is_none()).map(|target| self.visit(target));
        let before = target.as_ref().map_or(0, |target| target.cost);
        if is_macro && namespace.is_none() {
            // Our parser does not expand it.
            return self.unknown(before);
        }
        let name = namespace.map_or_else(|| call.func_name.clone(), |space| format!("{space}.{}", call.func_name));
        let args: Vec<_> = call.args.iter().map(|arg| self.visit(arg)).collect();
        let result = calls::call(self, &name, target.as_ref(), &args, &call.args);
        Node { cost: result.cost.saturating_add(before), ..result }
    }

    fn comprehension(&mut self, fold: &ComprehensionExpr) -> Node<'a> {
        let range = self.visit(&fold.iter_range);
        let start = self.visit(&fold.accu_init);
        let depth = self.locals.len();
        self.locals.push((fold.accu_var.clone(), start.clone()));
        let item = self.item(&range);
        self.locals.push((fold.iter_var.clone(), item));
        let condition = self.visit(&fold.loop_cond);
        let step = self.visit(&fold.loop_step);
        self.locals.truncate(depth + 1);
        let result = self.visit(&fold.result);
        self.locals.truncate(depth);
        let rounds = self.size(&range);
        let each = condition.cost.saturating_add(step.cost);
        let around = range.cost.saturating_add(start.cost).saturating_add(result.cost);
        let cost = around.saturating_add(rounds.max.saturating_mul(each));
        if matches!(fold.accu_init.expr, Expr::List(_)) {
            Node { entry: step.entry, ..Node::computed(cost, step.ty, Some(rounds)) }
        } else {
            Node::computed(cost, result.ty, start.size)
        }
    }

    /// The variable of a loop: items of a list, keys of a map.
    fn item(&mut self, range: &Node<'a>) -> Node<'a> {
        let is_list = match (range.entry, range.ty.kind()) {
            (Some(entry), _) => entry.is_list,
            (None, kind) => kind == Some(Kind::List),
        };
        let place = self.part(range.place, |declared| declared.element.as_deref().filter(|_| is_list));
        let ty = match range.ty.kind() {
            Some(Kind::Map) => Type::Plain(Kind::String),
            _ => range.ty.element(),
        };
        // The keys of a declared map have no bounds of their own, which a server takes for none at all.
        let keys = matches!((range.place, is_list), (Place::At(declared), false) if declared.kind == Kind::Map);
        let inner = range.entry.map(|entry| if is_list { entry.value } else { entry.key });
        let placed = Node::placed(1, place, ty);
        let size = if keys { Some(Size::exactly(0)) } else { placed.size.or(inner) };
        Node { size, ..placed }
    }
}

fn constant<'a>(literal: &LiteralValue) -> Node<'a> {
    let (kind, size) = match literal {
        LiteralValue::String(text) => (Kind::String, text.inner().chars().count()),
        LiteralValue::Bytes(bytes) => (Kind::Bytes, bytes.inner().len()),
        LiteralValue::Boolean(_) => (Kind::Bool, 1),
        LiteralValue::Double(_) => (Kind::Double, 1),
        LiteralValue::Int(_) => (Kind::Int, 1),
        LiteralValue::UInt(_) => (Kind::Uint, 1),
        LiteralValue::Null => (Kind::Null, 1),
    };
    Node::literal(0, Type::Plain(kind), size)
}

pub(super) fn total(nodes: &[Node<'_>]) -> u64 {
    nodes.iter().fold(0, |sum, node| sum.saturating_add(node.cost))
}

/// The type that all of these have.
fn common<'a>(nodes: &[Node<'a>]) -> Type<'a> {
    let Some(first) = nodes.first() else { return Type::Unknown };
    let same = first.ty.kind().is_some() && nodes.iter().all(|node| node.ty.kind() == first.ty.kind());
    if same { first.ty.clone() } else { Type::Unknown }
}
