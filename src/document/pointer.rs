//! JSON pointers.

/// A name as a step of a JSON pointer.
pub fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The name that a step of a JSON pointer stands for.
pub fn unescape(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
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
