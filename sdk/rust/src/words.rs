//! Enums that are words in JSON and in text.

/// Enums that are numbers in the contract.
macro_rules! number_words {
    ($name:ident { $($variant:ident = $number:literal => $word:literal,)* }) => {
        impl $name {
            /// The word, such as `live`; `unknown` for other values.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                    Self::Unknown(_) => "unknown",
                }
            }

            pub(crate) const fn from_number(number: i32) -> Self {
                match number {
                    $($number => Self::$variant,)*
                    _ => Self::Unknown(number),
                }
            }

            // Some are only in answers.
            #[allow(dead_code)]
            pub(crate) const fn number(self) -> i32 {
                match self {
                    $(Self::$variant => $number,)*
                    Self::Unknown(number) => number,
                }
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::Unknown(0)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                to.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                const WORDS: &[&str] = &[$($word),*];
                let word = <std::borrow::Cow<'de, str>>::deserialize(from)?;
                match word.as_ref() {
                    $($word => Ok(Self::$variant),)*
                    "unknown" => Ok(Self::default()),
                    other => Err(serde::de::Error::unknown_variant(other, WORDS)),
                }
            }
        }
    };
}

/// Enums that are words in the REST interface. A word that is not known here stays as it is.
macro_rules! text_words {
    (
        $(#[$meta:meta])*
        pub enum $name:ident { $($(#[$doc:meta])* $variant:ident => $word:literal,)* }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$doc])* $variant,)*
            /// A word that this version of the crate does not know.
            Unknown(String),
        }

        impl $name {
            /// The word.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $word,)*
                    Self::Unknown(word) => word,
                }
            }
        }

        impl From<&str> for $name {
            fn from(word: &str) -> Self {
                match word {
                    $($word => Self::$variant,)*
                    other => Self::Unknown(other.to_owned()),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                to.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let word = <std::borrow::Cow<'de, str>>::deserialize(from)?;
                Ok(Self::from(word.as_ref()))
            }
        }
    };
}

pub(crate) use number_words;
pub(crate) use text_words;
