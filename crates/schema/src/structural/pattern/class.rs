//! Character classes by their names in Go: Perl's, POSIX's and Unicode's.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

/// Go's Unicode version. Newer characters have no class there.
const ASSIGNED: &str = r"\p{Age=15.0}";

/// The scripts that Go finds. Since it drops underscores from names (Go 1.25), it no longer finds scripts of several
/// words, such as `Old_Italic`.
const SCRIPTS: &str = "adlam ahom arabic armenian avestan balinese bamum batak bengali bhaiksuki bopomofo brahmi braille buginese buhid \
    carian chakma cham cherokee chorasmian common coptic cuneiform cypriot cyrillic deseret devanagari dogra \
    duployan elbasan elymaic ethiopic georgian glagolitic gothic grantha greek gujarati gurmukhi han hangul hanunoo \
    hatran hebrew hiragana inherited javanese kaithi kannada katakana kawi kharoshthi khmer khojki khudawadi lao \
    latin lepcha limbu lisu lycian lydian mahajani makasar malayalam mandaic manichaean marchen medefaidrin miao \
    modi mongolian mro multani myanmar nabataean nandinagari newa nko nushu ogham oriya osage osmanya palmyrene \
    phoenician rejang runic samaritan saurashtra sharada shavian siddham sinhala sogdian soyombo sundanese syriac \
    tagalog tagbanwa takri tamil tangsa tangut telugu thaana thai tibetan tifinagh tirhuta toto ugaritic vai \
    vithkuqi wancho yezidi yi";

/// The general categories that Go knows, with their aliases.
const CATEGORIES: &str = "c other cc control cntrl cf format co privateuse l letter lc casedletter ll lowercaseletter \
    lm modifierletter lo otherletter lt titlecaseletter lu uppercaseletter m mark combiningmark mc spacingmark me \
    enclosingmark mn nonspacingmark n number nd decimalnumber digit nl letternumber no othernumber p punctuation punct \
    pc connectorpunctuation pd dashpunctuation pe closepunctuation pf finalpunctuation pi initialpunctuation po \
    otherpunctuation ps openpunctuation s symbol sc currencysymbol sk modifiersymbol sm mathsymbol so othersymbol z \
    separator zl lineseparator zp paragraphseparator zs spaceseparator";

/// The characters between two code points. Strings cannot contain the surrogates among them.
pub(super) fn range(low: u32, high: u32) -> ClassUnicode {
    let low = if (0xD800..0xE000).contains(&low) { 0xE000 } else { low };
    let high = if (0xD800..0xE000).contains(&high) { 0xD7FF } else { high };
    match (char::from_u32(low), char::from_u32(high)) {
        (Some(low), Some(high)) if low <= high => ClassUnicode::new([ClassUnicodeRange::new(low, high)]),
        _ => ClassUnicode::empty(),
    }
}

/// Every character, or every one except the line feed.
pub(super) fn any(line_feed: bool) -> ClassUnicode {
    let mut class = if line_feed { ClassUnicode::empty() } else { range(0x0A, 0x0A) };
    class.negate();
    class
}

fn of_bytes(ranges: &[u8]) -> ClassUnicode {
    let ranges = ranges.chunks_exact(2).map(|pair| ClassUnicodeRange::new(pair[0].into(), pair[1].into()));
    ClassUnicode::new(ranges)
}

/// The class of `\d`, `\s` or `\w`, and its opposite for an upper-case letter.
pub(super) fn perl(name: char, fold: bool) -> Option<ClassUnicode> {
    let ranges: &[u8] = match name.to_ascii_lowercase() {
        'd' => b"09",
        's' => b"\t\n\x0C\r  ",
        'w' => b"09AZ__az",
        _ => return None,
    };
    Some(finished(of_bytes(ranges), fold, name.is_ascii_uppercase()))
}

/// The class of a POSIX name such as `alpha` or `^alpha`.
pub(super) fn posix(name: &str, fold: bool) -> Option<ClassUnicode> {
    let (negated, name) = name.strip_prefix('^').map_or((false, name), |name| (true, name));
    let ranges: &[u8] = match name {
        "alnum" => b"09AZaz",
        "alpha" => b"AZaz",
        "ascii" => b"\x00\x7F",
        "blank" => b"\t\t  ",
        "cntrl" => b"\x00\x1F\x7F\x7F",
        "digit" => b"09",
        "graph" => b"!~",
        "lower" => b"az",
        "print" => b" ~",
        "punct" => b"!/:@[`{~",
        "space" => b"\t\r  ",
        "upper" => b"AZ",
        "word" => b"09AZ__az",
        "xdigit" => b"09AFaf",
        _ => return None,
    };
    Some(finished(of_bytes(ranges), fold, negated))
}

/// The class of a Unicode name such as `Greek`, `Lu` or `^Lu`.
pub(super) fn unicode(name: &str, negated: bool, fold: bool) -> Option<ClassUnicode> {
    let (negated, name) = name.strip_prefix('^').map_or((negated, name), |name| (!negated, name));
    let plain: String =
        name.chars().filter(|c| !matches!(c, ' ' | '_' | '-')).map(|c| c.to_ascii_lowercase()).collect();
    let known = |names: &str| names.split_whitespace().any(|known| known == plain);
    let class = match plain.as_str() {
        "any" => any(true),
        "ascii" => range(0, 0x7F),
        "assigned" => opposite(unassigned()?),
        "cn" | "unassigned" => unassigned()?,
        "cs" | "surrogate" => ClassUnicode::empty(),
        "c" | "other" => {
            let mut class = table(r"\p{gc=C}")?;
            class.union(&unassigned()?);
            class
        }
        _ if known(CATEGORIES) => assigned(&format!(r"\p{{gc={plain}}}"))?,
        _ if known(SCRIPTS) => assigned(&format!(r"\p{{sc={plain}}}"))?,
        _ => return None,
    };
    Some(finished(class, fold, negated))
}

fn finished(mut class: ClassUnicode, fold: bool, negated: bool) -> ClassUnicode {
    if fold {
        folded(&mut class);
    }
    if negated { opposite(class) } else { class }
}

/// Adds the other cases of all members.
pub(super) fn folded(class: &mut ClassUnicode) {
    // It fails only without tables, and those are built in.
    let _ = class.try_case_fold_simple();
}

fn opposite(mut class: ClassUnicode) -> ClassUnicode {
    class.negate();
    class
}

fn unassigned() -> Option<ClassUnicode> {
    let mut class = opposite(table(ASSIGNED)?);
    class.union(&table(r"\p{gc=Cn}")?);
    Some(class)
}

/// The members of a class that Go's Unicode version has.
fn assigned(expression: &str) -> Option<ClassUnicode> {
    let mut class = table(expression)?;
    class.intersect(&table(ASSIGNED)?);
    Some(class)
}

fn table(expression: &str) -> Option<ClassUnicode> {
    match regex_syntax::parse(expression).ok()?.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class),
        _ => None,
    }
}
