//! JSON pointers.

use std::borrow::Cow;

/// A name as a step of a JSON pointer.
pub fn escape(name: &str) -> Cow<'_, str> {
    if name.contains(['~', '/']) { name.replace('~', "~0").replace('/', "~1").into() } else { name.into() }
}

/// The name that a step of a JSON pointer stands for.
pub fn unescape(step: &str) -> Cow<'_, str> {
    if step.contains('~') { step.replace("~1", "/").replace("~0", "~").into() } else { step.into() }
}

/// Goes one step down from where a pointer leads; gives the length to go back to.
pub fn descend(pointer: &mut String, name: &str) -> usize {
    let length = pointer.len();
    pointer.push('/');
    pointer.push_str(&escape(name));
    length
}

/// A field path such as `.spec.x[0].y` as a JSON pointer, near enough to find the place: names with dots are taken apart.
pub fn of_path(path: &str) -> String {
    escape(path).replace('[', ".").replace(']', "").replace('.', "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        for name in ["a", "a/b", "a~b", "~1", "~0/", ""] {
            assert_eq!(unescape(&escape(name)), name);
        }
        assert_eq!(of_path(".spec.x[0].y"), "/spec/x/0/y");
        assert_eq!(of_path(".spec.a/b"), "/spec/a~1b");
    }
}
