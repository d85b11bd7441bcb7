//! Where a step works: a JSON Pointer into the arguments, with `*` for every item of a list.

use super::limits;
use schema::reference::escape;
use std::fmt;

/// One part of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// A member of an object.
    Member(String),
    /// Every item of a list, written `*`.
    Each,
}

/// A place in the arguments or in a result: at least one part, the last one a member or `*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path(pub(super) Vec<Part>);

impl Path {
    /// Reads a pointer such as `/options/limit` or `/labels/*/name`. A member that is called `*` is
    /// written `~2`.
    ///
    /// # Errors
    /// A sentence on what is wrong with the text.
    pub fn read(text: &str) -> Result<Path, String> {
        let Some(rest) = text.strip_prefix('/') else {
            return Err(format!("{text:?} is no place in the arguments: it does not begin with /"));
        };
        let parts: Vec<Part> = rest
            .split('/')
            .map(|part| match part {
                "*" => Part::Each,
                "~2" => Part::Member("*".to_owned()),
                named => Part::Member(named.replace("~1", "/").replace("~0", "~")),
            })
            .collect();
        if parts.len() > limits::PATH {
            return Err(format!("{text:?} leads deeper than {} members", limits::PATH));
        }
        if parts.contains(&Part::Member(String::new())) {
            return Err(format!("{text:?} has a member without a name"));
        }
        if parts.first() == Some(&Part::Each) {
            return Err(format!("{text:?} begins with *, and arguments are an object"));
        }
        Ok(Path(parts))
    }

    /// The names on the way, without the `*`.
    pub fn names(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.iter().filter_map(|part| match part {
            Part::Member(name) => Some(name.as_str()),
            Part::Each => None,
        })
    }

    /// The last name.
    pub fn last(&self) -> &str {
        self.names().next_back().unwrap_or_default()
    }

    /// How many parts two paths have in common at their beginning.
    pub(super) fn shared(&self, other: &Path) -> usize {
        self.0.iter().zip(&other.0).take_while(|(one, two)| one == two).count()
    }

    /// True where the other place is this one or lies inside it.
    pub(super) fn holds(&self, other: &Path) -> bool {
        self.shared(other) == self.0.len()
    }

    /// The same place with the first parts replaced.
    pub(super) fn rebased(&self, from: &Path, to: &Path) -> Path {
        Path(to.0.iter().chain(&self.0[from.0.len()..]).cloned().collect())
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in &self.0 {
            match part {
                Part::Each => f.write_str("/*")?,
                Part::Member(name) if name == "*" => f.write_str("/~2")?,
                Part::Member(name) => write!(f, "/{}", escape(name))?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_written_as_they_were_read() {
        for text in ["/a", "/a/b", "/a/*/b", "/a~1b/~0", "/a/*", "/a/~2"] {
            assert_eq!(Path::read(text).map(|path| path.to_string()), Ok(text.to_owned()));
        }
        for text in ["", "a", "/", "/a//b", "/*/a", &"/a".repeat(limits::PATH + 1)] {
            assert!(Path::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn one_place_holds_another() {
        let path = |text| Path::read(text).expect("a path");
        assert!(path("/a").holds(&path("/a/b")) && path("/a").holds(&path("/a")));
        assert!(!path("/a/b").holds(&path("/a")) && !path("/a").holds(&path("/ab")));
        assert_eq!(path("/a/b/c").rebased(&path("/a/b"), &path("/x")), path("/x/c"));
    }
}
