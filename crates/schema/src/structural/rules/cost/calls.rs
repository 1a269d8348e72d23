//! The costs of operators and functions, as API servers estimate them.

use std::rc::Rc;

use kube_cel::cel::common::ast::{Expr, IdedExpr, LiteralValue, operators};

use super::declared::Kind;
use super::estimate::{Entry, Estimator, Node, Place, Type, total};
use super::functions;
use super::size::{Size, TRAVERSAL, scaled};

/// Estimates a call, without its target.
pub(super) fn call<'a>(
    estimator: &mut Estimator<'a>,
    name: &str,
    target: Option<&Node<'a>>,
    args: &[Node<'a>],
    expressions: &[IdedExpr],
) -> Node<'a> {
    let before = total(args);
    let node = match (name, target, args) {
        (operators::CONDITIONAL, None, [condition, yes, no]) => return conditional(estimator, condition, yes, no),
        (operators::LOGICAL_AND | operators::LOGICAL_OR, None, _) => boolean(0),
        (operators::LOGICAL_NOT | operators::NOT_STRICTLY_FALSE, None, _) => boolean(1),
        (operators::NEGATE, None, [only]) => Node::computed(1, only.ty.clone(), None),
        (operators::EQUALS | operators::NOT_EQUALS, None, [left, right]) => {
            equality(estimator, name == operators::EQUALS, left, right)
        }
        (
            operators::LESS | operators::LESS_EQUALS | operators::GREATER | operators::GREATER_EQUALS,
            None,
            [left, right],
        ) => boolean(comparison(estimator, left, right)),
        (operators::ADD, None, [left, right]) => addition(estimator, left, right),
        (operators::SUBSTRACT | operators::MULTIPLY | operators::DIVIDE | operators::MODULO, None, [left, right]) => {
            let number = [left, right].into_iter().find(|side| !matches!(side.ty.kind(), None | Some(Kind::Dyn)));
            Node::computed(1, number.map_or(Type::Unknown, |side| side.ty.clone()), None)
        }
        (operators::INDEX, None, [container, _]) => index(estimator, container),
        (operators::OPT_INDEX, None, [container, _]) => {
            Node::computed(1, Type::Optional(Rc::new(container.ty.element())), None)
        }
        (operators::OPT_SELECT, None, [operand, _]) => {
            let name = text(expressions.get(1)).unwrap_or_default();
            estimator.exact &= !operand.ty.is_unknown();
            Node::computed(1, Type::Optional(Rc::new(operand.ty.field(name))), None)
        }
        (operators::IN, None, [_, container]) => boolean(membership(estimator, container)),
        ("dyn", None, [only]) => {
            let size = estimator.size(only);
            Node { entry: only.entry, ..Node::computed(1, Type::Plain(Kind::Dyn), Some(size)) }
        }
        _ => functions::function(estimator, name, target, args, expressions),
    };
    Node { cost: node.cost.saturating_add(before), ..node }
}

fn boolean<'a>(cost: u64) -> Node<'a> {
    Node::computed(cost, Type::Plain(Kind::Bool), None)
}

fn text(expression: Option<&IdedExpr>) -> Option<&str> {
    match &expression?.expr {
        Expr::Literal(LiteralValue::String(text)) => Some(text.inner()),
        _ => None,
    }
}

/// Costs its condition and the more expensive branch.
fn conditional<'a>(estimator: &mut Estimator<'a>, condition: &Node<'a>, yes: &Node<'a>, no: &Node<'a>) -> Node<'a> {
    let size = estimator.size(yes).union(estimator.size(no));
    let cost = condition.cost.saturating_add(yes.cost.max(no.cost));
    let ty = if is_open(&yes.ty) { no.ty.clone() } else { yes.ty.clone() };
    Node { entry: Entry::union(yes.entry, no.entry), ..Node::computed(cost, ty, Some(size)) }
}

/// Returns whether nothing is known of a type, or of its elements, as of an empty list.
fn is_open(ty: &Type<'_>) -> bool {
    match ty {
        Type::Unknown => true,
        Type::List(element) | Type::Map(element) => is_open(element),
        Type::Declared(_) | Type::Plain(_) | Type::Optional(_) | Type::Named(_) => false,
    }
}

fn equality<'a>(estimator: &mut Estimator<'a>, is_equal: bool, left: &Node<'a>, right: &Node<'a>) -> Node<'a> {
    if let (true, Type::Named(one), Type::Named(other)) = (is_equal, &left.ty, &right.ty) {
        if one == other && matches!(*one, "quantity" | "ip" | "cidr" | "semver") {
            return boolean(1);
        }
        return Node { ty: Type::Plain(Kind::Bool), ..estimator.unknown(0) };
    }
    boolean(shorter(estimator, left, right))
}

/// The cost of traversing the shorter of two values.
fn shorter<'a>(estimator: &mut Estimator<'a>, left: &Node<'a>, right: &Node<'a>) -> u64 {
    scaled(estimator.size(left).max.min(estimator.size(right).max), TRAVERSAL)
}

fn comparison<'a>(estimator: &mut Estimator<'a>, left: &Node<'a>, right: &Node<'a>) -> u64 {
    let is_text = |kind| matches!(kind, Some(Kind::String | Kind::Bytes));
    let is_open = |kind| matches!(kind, Some(Kind::Dyn));
    let (one, other) = (left.ty.kind(), right.ty.kind());
    if is_text(one) || is_text(other) {
        shorter(estimator, left, right)
    } else if is_open(one) && is_open(other) {
        shorter(estimator, left, right).max(1)
    } else if one.is_none() || other.is_none() {
        estimator.exact = false;
        0
    } else {
        1
    }
}

fn addition<'a>(estimator: &mut Estimator<'a>, left: &Node<'a>, right: &Node<'a>) -> Node<'a> {
    let kinds = [left.ty.kind(), right.ty.kind()];
    let both_open = kinds == [Some(Kind::Dyn); 2];
    let is = |wanted| kinds.contains(&Some(wanted));
    let ty = if is_open(&left.ty) || kinds[0] == Some(Kind::Dyn) { &right.ty } else { &left.ty };
    if is(Kind::List) {
        let size = estimator.size(left).plus(estimator.size(right));
        return Node { entry: Entry::union(left.entry, right.entry), ..Node::computed(1, ty.clone(), Some(size)) };
    }
    if is(Kind::String) || is(Kind::Bytes) || both_open {
        let size = estimator.size(left).plus(estimator.size(right));
        let cost = scaled(size.max, TRAVERSAL).max(u64::from(both_open));
        return Node { entry: Entry::union(left.entry, right.entry), ..Node::computed(cost, ty.clone(), Some(size)) };
    }
    if kinds.iter().all(Option::is_none) {
        return estimator.unknown(0);
    }
    Node::computed(1, ty.clone(), None)
}

fn index<'a>(estimator: &mut Estimator<'a>, container: &Node<'a>) -> Node<'a> {
    if let Type::Optional(inner) = &container.ty {
        return Node::computed(1, Type::Optional(Rc::new(inner.element())), None);
    }
    estimator.exact &= matches!(container.ty.kind(), Some(Kind::List | Kind::Map));
    let place = estimator.part(container.place, |declared| declared.element.as_deref());
    let placed = Node::placed(1, place, container.ty.element());
    match container.entry {
        Some(entry) => Node { size: Some(entry.value), ..placed },
        None => placed,
    }
}

fn membership<'a>(estimator: &mut Estimator<'a>, container: &Node<'a>) -> u64 {
    match container.ty.kind() {
        Some(Kind::Map) => 1,
        Some(Kind::List) => estimator.size(container).max,
        Some(Kind::Dyn) => estimator.size(container).max.max(1),
        _ => {
            estimator.exact = false;
            0
        }
    }
}

/// The size of the items of a list, by its place or its type.
pub(super) fn item_size<'a>(estimator: &mut Estimator<'a>, list: &Node<'a>) -> Size {
    match list.place {
        Place::Nowhere if list.ty.element().is_unknown() => {
            estimator.exact = false;
            Size::exactly(0)
        }
        Place::At(declared) => {
            declared.element.as_deref().map_or(Size::UNKNOWN, |items| Size::up_to(items.max_elements))
        }
        Place::Nowhere | Place::Lost => Size::UNKNOWN,
    }
}
