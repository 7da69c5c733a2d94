//! IP addresses as bytes.

use std::fmt::Write as _;
use std::net::{IpAddr, Ipv6Addr};

/// An IPv4-mapped IPv6 address is the IPv4 address; `None` for text that is no address.
pub(crate) fn read_address(text: &str) -> Option<Vec<u8>> {
    if let Some((address, zone)) = text.split_once('%') {
        // A zone does not count.
        let is_zone = !zone.is_empty()
            && zone
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-.:".contains(&byte));
        let address: Ipv6Addr = address.parse().ok().filter(|_| is_zone)?;
        return Some(bytes_of(IpAddr::V6(address)));
    }
    text.parse().ok().map(bytes_of)
}

fn bytes_of(address: IpAddr) -> Vec<u8> {
    match address.to_canonical() {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

/// The first `bits` bits, and zeros after them, in hex; `None` if the address has fewer bits.
pub(crate) fn network_of(address: &[u8], bits: usize) -> Option<String> {
    if bits > address.len() * 8 {
        return None;
    }
    let mut text = String::with_capacity(address.len() * 2);
    for (at, byte) in address.iter().enumerate() {
        let kept = bits.saturating_sub(at * 8).min(8);
        let mask = u8::try_from((0xff00_u16 >> kept) & 0xff).unwrap_or(0xff);
        // Writing to a String does not fail.
        let _ = write!(text, "{:02x}", byte & mask);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::{network_of, read_address};

    #[test]
    fn addresses_and_networks() {
        let network = |text: &str, bits| network_of(&read_address(text).unwrap(), bits);
        assert_eq!(network("192.0.2.7", 24).unwrap(), "c0000200");
        assert_eq!(network("::ffff:192.0.2.7", 24).unwrap(), "c0000200");
        assert_eq!(
            network("2001:db8::1", 32).unwrap(),
            "20010db8000000000000000000000000"
        );
        assert_eq!(
            network("2001:db8::1%eth0", 32).unwrap(),
            "20010db8000000000000000000000000"
        );
        assert_eq!(network("255.255.255.255", 9).unwrap(), "ff800000");
        assert_eq!(network("192.0.2.7", 0).unwrap(), "00000000");
        assert_eq!(network("192.0.2.7", 33), None);
        for text in [
            "",
            "192.0.2",
            "192.0.2.256",
            "192.0.02.1",
            "::1%",
            "1.2.3.4%eth0",
            "example",
        ] {
            assert_eq!(read_address(text), None, "{text}");
        }
    }
}
