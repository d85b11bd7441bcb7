//! Closed sets of words: each is an enum in the code and the same word in a table, a leaf and on a terminal.

/// Makes an enum whose values are words that can be written and read back.
macro_rules! words {
    ($(#[$about:meta])* pub enum $name:ident { $($(#[$what:meta])* $value:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$what])* $value,)+ }

        impl $name {
            /// All values, in the order of their declaration.
            pub const ALL: &'static [$name] = &[$($name::$value),+];

            /// The word.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$value => $word,)+ }
            }

            /// The value for a word; `None` for any other word.
            pub fn from_word(word: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|value| value.as_str() == word)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

pub(crate) use words;
