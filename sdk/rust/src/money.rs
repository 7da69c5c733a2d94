//! Amounts of money.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Millionths of a US dollar.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Micros(pub i64);

impl fmt::Display for Micros {
    /// All six decimals: `-$0.000009`.
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let micros = self.0.unsigned_abs();
        write!(
            to,
            "{sign}${}.{:06}",
            micros / 1_000_000,
            micros % 1_000_000
        )
    }
}

/// An amount of the REST interface.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Amount {
    /// Millionths of a US dollar.
    pub micros: Micros,
    /// The same for people, such as `-$0.000009`.
    pub display: String,
}

#[cfg(test)]
mod tests {
    use super::Micros;

    #[test]
    fn micros_are_shown_as_dollars() {
        assert_eq!(Micros(1_234_567).to_string(), "$1.234567");
        assert_eq!(Micros(-9).to_string(), "-$0.000009");
        assert_eq!(Micros(i64::MIN).to_string(), "-$9223372036854.775808");
    }
}
