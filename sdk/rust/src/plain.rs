//! Times and lengths of time: as messages of the contract, and in JSON.

use std::time::{Duration, SystemTime};

use prost_types::Timestamp;

pub(crate) fn read_time(time: Option<Timestamp>) -> Option<SystemTime> {
    time.and_then(|time| SystemTime::try_from(time).ok())
}

pub(crate) fn write_time(time: SystemTime) -> Timestamp {
    Timestamp::from(time)
}

pub(crate) fn read_duration(length: Option<prost_types::Duration>) -> Option<Duration> {
    length.map(duration)
}

/// Negative lengths, which the service never sends, are 0.
pub(crate) fn duration(length: prost_types::Duration) -> Duration {
    Duration::try_from(length).unwrap_or_default()
}

pub(crate) fn write_duration(length: Duration) -> prost_types::Duration {
    prost_types::Duration {
        seconds: i64::try_from(length.as_secs()).unwrap_or(i64::MAX),
        nanos: length.subsec_nanos().cast_signed(),
    }
}

/// The names that come with `true`.
pub(crate) fn given<const N: usize>(fields: [(&str, bool); N]) -> Vec<String> {
    let given = fields.into_iter().filter(|(_, is_given)| *is_given);
    given.map(|(name, _)| name.to_owned()).collect()
}

/// Seconds as a number.
pub(crate) mod seconds {
    use std::time::Duration;

    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(length: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_f64(length.as_secs_f64())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        read(f64::deserialize(from)?).map_err(D::Error::custom)
    }

    pub(super) fn read(seconds: f64) -> Result<Duration, &'static str> {
        Duration::try_from_secs_f64(seconds).map_err(|_| "expected a number of seconds")
    }
}

/// Seconds as a number, or nothing.
pub(crate) mod optional_seconds {
    use std::time::Duration;

    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    // The signature is serde's.
    #[allow(clippy::ref_option)]
    pub(crate) fn serialize<S: Serializer>(
        length: &Option<Duration>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match length {
            Some(length) => super::seconds::serialize(length, to),
            None => to.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Duration>, D::Error> {
        let seconds = Option::<f64>::deserialize(from)?;
        seconds
            .map(super::seconds::read)
            .transpose()
            .map_err(D::Error::custom)
    }
}

/// Seconds as a whole number, or nothing. A part of a second is sent as it is, for the service to refuse.
pub(crate) mod optional_whole_seconds {
    use std::time::Duration;

    use serde::Serializer;

    pub(crate) use super::optional_seconds::deserialize;

    // The signature is serde's.
    #[allow(clippy::ref_option)]
    pub(crate) fn serialize<S: Serializer>(
        length: &Option<Duration>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match length {
            Some(length) if length.subsec_nanos() == 0 => to.serialize_u64(length.as_secs()),
            other => super::optional_seconds::serialize(other, to),
        }
    }
}

/// A time in RFC 3339, or nothing.
pub(crate) mod optional_time {
    use std::time::SystemTime;

    use prost_types::Timestamp;
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    // The signature is serde's.
    #[allow(clippy::ref_option)]
    pub(crate) fn serialize<S: Serializer>(
        time: &Option<SystemTime>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match time {
            Some(time) => to.collect_str(&Timestamp::from(*time)),
            None => to.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<SystemTime>, D::Error> {
        let Some(text) = Option::<String>::deserialize(from)? else {
            return Ok(None);
        };
        let time = text
            .parse::<Timestamp>()
            .ok()
            .and_then(|time| time.try_into().ok());
        time.map(Some)
            .ok_or_else(|| D::Error::custom("expected a time in RFC 3339"))
    }
}
