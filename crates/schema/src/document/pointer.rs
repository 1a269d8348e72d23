//! JSON pointers.

use std::borrow::Cow;

/// Escapes a name as a step of a JSON pointer.
pub fn escape(name: &str) -> Cow<'_, str> {
    if name.contains(['~', '/']) { name.replace('~', "~0").replace('/', "~1").into() } else { name.into() }
}

/// Unescapes a step of a JSON pointer.
pub fn unescape(step: &str) -> Cow<'_, str> {
    if step.contains('~') { step.replace("~1", "/").replace("~0", "~").into() } else { step.into() }
}

/// Appends a step to a pointer; returns the previous length, to go back.
pub fn descend(pointer: &mut String, name: &str) -> usize {
    let length = pointer.len();
    pointer.push('/');
    pointer.push_str(&escape(name));
    length
}

/// A field path such as `.spec.x[0].y` as a JSON pointer. Approximate: names with dots are split.
pub fn of_path(path: &str) -> String {
    escape(path).replace('[', ".").replace(']', "").replace('.', "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_names_are_unescaped() {
        for name in ["a", "a/b", "a~b", "~1", "~0/", ""] {
            assert_eq!(unescape(&escape(name)), name);
        }
        assert_eq!(of_path(".spec.x[0].y"), "/spec/x/0/y");
        assert_eq!(of_path(".spec.a/b"), "/spec/a~1b");
    }
}
