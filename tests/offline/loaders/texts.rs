//! Random texts: noise, YAML without meaning, damaged manifests, and deep nesting.

use proptest::prelude::*;

/// Pieces of YAML for wrong combinations.
const PIECES: [&str; 50] = [
    "a",
    "b: ",
    "- ",
    "? ",
    ": ",
    "\n",
    "\n  ",
    "\n    ",
    "\r\n",
    "\t",
    " ",
    "{",
    "}",
    "[",
    "]",
    ",",
    "&a ",
    "*a",
    "<<: ",
    "!!str ",
    "!!binary ",
    "!x!y ",
    "!<tag:x> ",
    "|\n  ",
    ">-\n  ",
    "|9\n",
    "'",
    "\"",
    "\\",
    "\\u0000",
    "\\ud800",
    "# c\n",
    "---\n",
    "...\n",
    "%YAML 1.1\n",
    "%TAG ! x\n",
    "0x",
    "0o8",
    "1_000",
    "1e999",
    ".inf",
    "-",
    "~",
    "null",
    "yes",
    "é",
    "\u{feff}",
    "\u{2028}",
    "\0",
    "2027-01-31",
];

fn pieces(most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..most).prop_map(|pieces| pieces.concat())
}

/// Any text, and more often text that is nearly YAML.
pub(super) fn document() -> impl Strategy<Value = String> {
    prop_oneof![1 => any::<String>(), 4 => pieces(40)]
}

#[derive(Debug, Clone)]
enum Damage {
    Cut(u16),
    Insert(String),
    RepeatLine,
    DropLine,
    Indent,
}

/// One of these texts, with up to five kinds of damage.
pub(super) fn mutated(texts: Vec<String>) -> impl Strategy<Value = String> {
    let damage = prop_oneof![
        (1_u16..40).prop_map(Damage::Cut),
        pieces(4).prop_map(Damage::Insert),
        Just(Damage::RepeatLine),
        Just(Damage::DropLine),
        Just(Damage::Indent),
    ];
    let damages = prop::collection::vec((any::<prop::sample::Index>(), damage), 1..=5);
    (prop::sample::select(texts), damages)
        .prop_map(|(text, damages)| damages.into_iter().fold(text, |text, (at, damage)| harm(&text, at, damage)))
}

fn harm(text: &str, at: prop::sample::Index, damage: Damage) -> String {
    let mut at = at.index(text.len() + 1);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let line = text[..at].rfind('\n').map_or(0, |found| found + 1);
    let end = text[at..].find('\n').map_or(text.len(), |found| at + found + 1);
    match damage {
        Damage::Cut(length) => {
            let rest: String = text[at..].chars().skip(usize::from(length)).collect();
            format!("{}{rest}", &text[..at])
        }
        Damage::Insert(piece) => format!("{}{piece}{}", &text[..at], &text[at..]),
        Damage::RepeatLine => format!("{}{}{}", &text[..end], &text[line..end], &text[end..]),
        Damage::DropLine => format!("{}{}", &text[..line], &text[end..]),
        Damage::Indent => format!("{}  {}", &text[..line], &text[line..]),
    }
}

/// Nested collections: written out, by aliases, and as schemas of a CRD.
pub(super) fn deep() -> impl Strategy<Value = String> {
    (0_usize..400, 0_u8..8).prop_map(|(depth, form)| match form {
        0 => format!("{}{}", "[".repeat(depth), "]".repeat(depth)),
        1 => format!("{}1{}", "{a: ".repeat(depth), "}".repeat(depth)),
        2 => (0..depth).map(|level| format!("{}a:\n", " ".repeat(level))).collect(),
        3 => format!("{}1", "- ".repeat(depth)),
        4 => {
            let links = (1..depth).map(|level| format!("a{level}: &a{level} [[[*a{}]]]\n", level - 1));
            format!("a0: &a0 x\n{}", links.collect::<String>())
        }
        5 => crd(&format!(
            "{}{{type: string}}{}",
            "{type: object, properties: {a: ".repeat(depth / 2),
            "}}".repeat(depth / 2)
        )),
        6 => {
            let piece = ["(", "[", "!", "1+", "a.", "true ? true : ", "a && ", "-"][depth % 8].repeat(depth * 20);
            crd(&format!("{{type: object, x-kubernetes-validations: [{{rule: \"{piece}true\"}}]}}"))
        }
        _ => crd(&format!("{}{{type: string}}{}", "{type: array, items: ".repeat(depth), "}".repeat(depth))),
    })
}

/// A CRD with two versions whose `spec` has this schema; the second version has one field more.
fn crd(schema: &str) -> String {
    let version = |name: &str, storage: bool, more: &str| {
        format!(
            "- {{name: {name}, served: true, storage: {storage}, schema: {{openAPIV3Schema: {{type: object, \
             properties: {{spec: {schema}{more}}}}}}}}}\n"
        )
    };
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: as.example.com}}\n\
         spec:\n  group: example.com\n  scope: Namespaced\n  names: {{plural: as, singular: a, kind: A, listKind: AList}}\n  \
         versions:\n  {}  {}",
        version("v1", true, ""),
        version("v2", false, ", status: {type: object}")
    )
}
