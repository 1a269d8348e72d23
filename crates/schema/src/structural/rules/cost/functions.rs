//! The costs and results of functions. Those that are not listed are not known.

use std::rc::Rc;

use kube_cel::cel::common::ast::{Expr, IdedExpr, LiteralValue};

use super::calls::item_size;
use super::declared::Kind;
use super::estimate::{Estimator, Node, Type};
use super::size::{PATTERN, Size, TRAVERSAL, scaled};

/// Estimates a call of a function, without its target and its arguments.
pub(super) fn function<'a>(
    estimator: &mut Estimator<'a>,
    name: &str,
    target: Option<&Node<'a>>,
    args: &[Node<'a>],
    expressions: &[IdedExpr],
) -> Node<'a> {
    match (name, target, args) {
        ("startsWith" | "endsWith", Some(_), [part]) => flag(traversed(estimator, part)),
        ("contains", Some(text), [part]) => {
            let cost = traversed(estimator, text).saturating_mul(traversed(estimator, part));
            flag(cost)
        }
        ("matches", Some(text), [pattern]) => flag(matching(estimator, text, pattern)),
        ("find" | "findAll", Some(text), [pattern, ..]) => {
            let size = Size::up_to(estimator.size(text).max);
            let ty = if name == "find" { Type::Plain(Kind::String) } else { texts() };
            Node::computed(matching(estimator, text, pattern), ty, Some(size))
        }
        ("lowerAscii" | "upperAscii" | "substring" | "trim", Some(text), _) => {
            let size = estimator.size(text);
            Node::computed(scaled(size.max, TRAVERSAL), Type::Plain(Kind::String), Some(size))
        }
        ("replace", Some(text), [from, to, ..]) => replace(estimator, text, from, to),
        ("split", Some(text), _) => split(estimator, text, expressions.get(1)),
        ("join", Some(list), _) => join(estimator, list, args.first()),
        ("isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf", Some(list), _) => {
            search(estimator, name, list)
        }
        ("format", Some(template), _) => {
            Node::computed(traversed(estimator, template), Type::Plain(Kind::String), None)
        }
        ("containsIP" | "containsCIDR", Some(_), [part]) => contains_address(estimator, name, part),
        ("string" | "bytes", None, [only]) => text_conversion(estimator, name, only),
        ("validate", Some(_), [text]) => {
            let cost = scaled(traversed(estimator, text), 128.0 * PATTERN);
            Node::computed(cost, Type::Optional(Rc::new(texts())), None)
        }
        _ => parser(estimator, name, target, args)
            .or_else(|| constant(estimator, name, target, args))
            .unwrap_or_else(|| estimator.unknown(0)),
    }
}

fn flag<'a>(cost: u64) -> Node<'a> {
    Node::computed(cost, Type::Plain(Kind::Bool), None)
}

fn texts<'a>() -> Type<'a> {
    Type::List(Rc::new(Type::Plain(Kind::String)))
}

fn traversed<'a>(estimator: &mut Estimator<'a>, text: &Node<'a>) -> u64 {
    scaled(estimator.size(text).max, TRAVERSAL)
}

fn matching<'a>(estimator: &mut Estimator<'a>, text: &Node<'a>, pattern: &Node<'a>) -> u64 {
    let text = scaled(estimator.size(text).max.saturating_add(1), TRAVERSAL);
    text.saturating_mul(scaled(estimator.size(pattern).max, PATTERN))
}

/// A result is longest where the shortest text is replaced by the longest, and shortest where the longest is replaced by
/// the shortest.
fn replace<'a>(estimator: &mut Estimator<'a>, text: &Node<'a>, from: &Node<'a>, to: &Node<'a>) -> Node<'a> {
    let (size, from, to) = (estimator.size(text), estimator.size(from), estimator.size(to));
    let (most, most_kept) = if from.min == 0 {
        (size.max.saturating_add(1), size.max)
    } else if to.max <= from.min {
        (0, size.max)
    } else {
        (size.max.div_ceil(from.min), 0)
    };
    let (least, least_kept) = if from.max == 0 {
        (size.min.saturating_add(1), size.min)
    } else if from.max <= to.min {
        (0, size.min)
    } else {
        (size.min.div_ceil(from.max), 0)
    };
    let kept = Size { min: least_kept, max: most_kept };
    let result = Size { min: least, max: most }.times(to).plus(kept);
    Node::computed(scaled(size.max, 2.0 * TRAVERSAL), Type::Plain(Kind::String), Some(result))
}

fn split<'a>(estimator: &mut Estimator<'a>, text: &Node<'a>, limit: Option<&IdedExpr>) -> Node<'a> {
    let size = estimator.size(text);
    let parts = match limit.map(|limit| &limit.expr) {
        Some(Expr::Literal(LiteralValue::Int(limit))) => u64::try_from(*limit.inner()).unwrap_or(u64::MAX),
        _ => size.max,
    };
    Node::computed(scaled(size.max, 2.0 * TRAVERSAL), texts(), Some(Size::up_to(parts)))
}

fn join<'a>(estimator: &mut Estimator<'a>, list: &Node<'a>, separator: Option<&Node<'a>>) -> Node<'a> {
    let items = estimator.size(list);
    let mut size = items.times(item_size(estimator, list));
    if let Some(separator) = separator {
        let between = Size { min: items.min.saturating_sub(1), max: items.max.saturating_sub(1) };
        size = size.plus(estimator.size(separator).times(between));
    }
    Node::computed(scaled(size.max, TRAVERSAL), Type::Plain(Kind::String), Some(size))
}

fn search<'a>(estimator: &mut Estimator<'a>, name: &str, list: &Node<'a>) -> Node<'a> {
    let size = estimator.size(list).max;
    let element = list.ty.element();
    let cost = match (list.ty.kind(), element.kind()) {
        (Some(Kind::List | Kind::Map), Some(Kind::String | Kind::Bytes)) => {
            let each = scaled(item_size(estimator, list).max, TRAVERSAL).saturating_add(1);
            size.saturating_mul(each)
        }
        (Some(Kind::List | Kind::Map), _) => {
            estimator.exact &= !element.is_unknown();
            size
        }
        // A text.
        (Some(_), _) => scaled(size, TRAVERSAL),
        (None, _) => {
            estimator.exact = false;
            0
        }
    };
    let ty = match name {
        "isSorted" => Type::Plain(Kind::Bool),
        "indexOf" | "lastIndexOf" => Type::Plain(Kind::Int),
        _ => element,
    };
    Node::computed(cost, ty, None)
}

/// Two addresses have up to 16 bytes each; a text is parsed first.
fn contains_address<'a>(estimator: &mut Estimator<'a>, name: &str, part: &Node<'a>) -> Node<'a> {
    let compared = scaled(32, TRAVERSAL) + if name == "containsCIDR" { scaled(16, TRAVERSAL) + 1 } else { 0 };
    let parsed = if matches!(part.ty, Type::Named(_)) { 0 } else { traversed(estimator, part) };
    flag(compared.saturating_add(parsed))
}

/// Conversions between text and bytes traverse; those of other values do not.
fn text_conversion<'a>(estimator: &mut Estimator<'a>, name: &str, value: &Node<'a>) -> Node<'a> {
    let size = value.size.unwrap_or(Size::UNKNOWN);
    match (name, value.ty.kind()) {
        ("string", Some(Kind::Bytes)) => {
            let text = Size { min: size.min / 4, max: size.max };
            Node::computed(scaled(size.max, TRAVERSAL), Type::Plain(Kind::String), Some(text))
        }
        ("bytes", Some(Kind::String)) => {
            let bytes = Size { min: size.min, max: size.max.saturating_mul(4) };
            Node::computed(scaled(size.max, TRAVERSAL), Type::Plain(Kind::Bytes), Some(bytes))
        }
        (_, None | Some(Kind::Dyn)) => Node { ty: Type::Plain(Kind::String), ..estimator.unknown(0) },
        ("string", Some(_)) => Node::computed(1, Type::Plain(Kind::String), None),
        (_, Some(_)) => Node::computed(1, Type::Plain(Kind::Bytes), None),
    }
}

/// Functions that read a text once.
fn parser<'a>(
    estimator: &mut Estimator<'a>,
    name: &str,
    target: Option<&Node<'a>>,
    args: &[Node<'a>],
) -> Option<Node<'a>> {
    let [text, ..] = args else { return None };
    if target.is_some() {
        return None;
    }
    let (factor, ty) = match name {
        "url" => (TRAVERSAL, Type::Named("url")),
        "jsonpatch.escapeKey" => (TRAVERSAL, Type::Plain(Kind::String)),
        "ip" => (TRAVERSAL, Type::Named("ip")),
        "cidr" => (TRAVERSAL, Type::Named("cidr")),
        "quantity" => (TRAVERSAL, Type::Named("quantity")),
        "semver" => (TRAVERSAL, Type::Named("semver")),
        "isIP" | "isCIDR" | "isQuantity" | "isSemver" => (TRAVERSAL, Type::Plain(Kind::Bool)),
        "ip.isCanonical" => (2.0 * TRAVERSAL, Type::Plain(Kind::Bool)),
        _ => return None,
    };
    let size = estimator.size(text);
    let result = matches!(name, "url" | "jsonpatch.escapeKey").then_some(size);
    Some(Node::computed(scaled(size.max, factor), ty, result))
}

/// Functions that cost 1, whatever they are called with.
fn constant<'a>(
    estimator: &mut Estimator<'a>,
    name: &str,
    target: Option<&Node<'a>>,
    args: &[Node<'a>],
) -> Option<Node<'a>> {
    let inner = |node: &Node<'a>| match &node.ty {
        Type::Optional(inner) => (**inner).clone(),
        _ => Type::Unknown,
    };
    let ty = match (name, target, args) {
        ("type", None, [_]) => Type::Plain(Kind::Type),
        ("size" | "int", None, [_])
        | ("compareTo", Some(_), [_])
        | ("size" | "sign" | "asInteger" | "prefixLength" | "family" | "major" | "minor" | "patch", Some(_), []) => {
            Type::Plain(Kind::Int)
        }
        ("uint", None, [_]) => Type::Plain(Kind::Uint),
        ("double", None, [_]) | ("asApproximateFloat", Some(_), []) => Type::Plain(Kind::Double),
        // A call without a target is another overload, which servers do not weigh by the pattern.
        ("bool" | "isURL", None, [_])
        | ("matches", None, [_, _])
        | ("isGreaterThan" | "isLessThan", Some(_), [_])
        | (
            "hasValue"
            | "isInteger"
            | "isUnspecified"
            | "isLoopback"
            | "isLinkLocalMulticast"
            | "isLinkLocalUnicast"
            | "isGlobalUnicast",
            Some(_),
            [],
        ) => Type::Plain(Kind::Bool),
        ("duration", None, [_]) => Type::Plain(Kind::Duration),
        ("timestamp", None, [_]) => Type::Plain(Kind::Timestamp),
        ("charAt", Some(_), [_]) => Type::Plain(Kind::String),
        ("value", Some(optional), []) | ("orValue", Some(optional), [_]) => inner(optional),
        ("or", Some(optional), [_]) => optional.ty.clone(),
        ("optional.of" | "optional.ofNonZeroValue", None, [only]) => Type::Optional(Rc::new(only.ty.clone())),
        ("optional.none", None, []) => Type::Optional(Rc::new(Type::Unknown)),
        ("getScheme" | "getHost" | "getHostname" | "getPort" | "getEscapedPath", Some(_), []) => {
            Type::Plain(Kind::String)
        }
        ("getQuery", Some(_), []) => Type::Map(Rc::new(texts())),
        ("ip", Some(_), []) => Type::Named("ip"),
        ("add" | "sub", Some(quantity), [_]) => quantity.ty.clone(),
        ("format.named", None, [_]) => Type::Optional(Rc::new(Type::Named("format"))),
        (name, Some(_), _) if name.starts_with("get") => Type::Plain(Kind::Int),
        (name, None, []) if name.starts_with("format.") => Type::Named("format"),
        _ => return None,
    };
    estimator.exact &= !ty.is_unknown();
    Some(Node::computed(1, ty, None))
}
