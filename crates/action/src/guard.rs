//! Which addresses may be connected to: public ones, and those that a binding names.
//!
//! The tables are those of the IANA special-purpose registries (RFC 6890 and its successors).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A block of addresses that a binding allows: `10.0.0.0/8`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u32,
}

impl Network {
    /// Reads a block; `None` where it is none, or has bits beside its prefix.
    pub fn read(text: &str) -> Option<Network> {
        let (address, bits) = text.split_once('/')?;
        let (address, bits): (IpAddr, u32) = (address.parse().ok()?, bits.parse().ok()?);
        let most = if address.is_ipv4() { 32 } else { 128 };
        let network = Network { address, bits };
        (bits <= most && masked(address, bits) == number(address)).then_some(network)
    }

    fn holds(&self, address: IpAddr) -> bool {
        address.is_ipv4() == self.address.is_ipv4()
            && masked(address, self.bits) == number(self.address)
    }
}

fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => u128::from(v4.to_bits()) << 96,
        IpAddr::V6(v6) => v6.to_bits(),
    }
}

fn masked(address: IpAddr, bits: u32) -> u128 {
    number(address) & u128::MAX.checked_shl(128 - bits).unwrap_or(0)
}

/// Whether an address may be connected to. What hides an address of the fourth version inside one of the sixth is
/// judged by the address inside.
pub fn allowed(address: IpAddr, networks: &[Network]) -> bool {
    let inner = match address {
        IpAddr::V6(v6) => hidden(v6).map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    };
    // Answers there with credentials of the machine itself: no binding can mean that.
    if inner == IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)) {
        return false;
    }
    let public = match inner {
        IpAddr::V4(v4) => is_public(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    };
    public || networks.iter().any(|network| network.holds(inner))
}

fn hidden(v6: Ipv6Addr) -> Option<Ipv4Addr> {
    let s = v6.segments();
    let join = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match s {
        // Mapped (RFC 4291), the deprecated compatible form, and NAT64 (RFC 6052).
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            Some(join(high, low))
        }
        [0, 0, 0, 0, 0, 0, high, low] if high != 0 => Some(join(high, low)),
        // 6to4 (RFC 3056).
        [0x2002, high, low, ..] => Some(join(high, low)),
        // Teredo (RFC 4380) writes the client's address inverted.
        [0x2001, 0, _, _, _, _, high, low] => Some(join(!high, !low)),
        _ => None,
    }
}

fn is_public(v4: Ipv4Addr) -> bool {
    let [a, b, c, _] = v4.octets();
    !(v4.is_private()
        || v4.is_loopback()
        || v4.is_link_local()
        || v4.is_multicast()
        || v4.is_documentation()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (b == 18 || b == 19)))
}

fn is_public_v6(v6: Ipv6Addr) -> bool {
    let s = v6.segments();
    // Only what is handed out for the whole world (RFC 4291, 2.4), without documentation and protocol blocks.
    (0x2000..0x4000).contains(&s[0])
        && !(s[0] == 0x2001 && (s[1] == 0xdb8 || s[1] < 0x200))
        && s[0] != 0x3fff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_addresses_are_denied_in_every_form() {
        for bad in [
            "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "169.254.1.1",
            "0.0.0.0", "100.64.0.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
            "192.0.0.8", "192.0.2.1", "::1", "::", "::ffff:127.0.0.1", "::ffff:169.254.169.254",
            "::127.0.0.1", "64:ff9b::10.0.0.1", "2002:7f00:1::", "2001:0:1::80ff:fffe", "fc00::1",
            "fe80::1", "ff02::1", "2001:db8::1", "3fff::1",
        ] {
            assert!(!allowed(bad.parse().unwrap(), &[]), "{bad}");
        }
        for good in ["93.184.216.34", "1.1.1.1", "2606:4700::1111", "::ffff:1.1.1.1"] {
            assert!(allowed(good.parse().unwrap(), &[]), "{good}");
        }
    }

    #[test]
    fn a_binding_allows_what_it_names_and_never_the_machines_own_credentials() {
        let near = [Network::read("127.0.0.0/8").unwrap()];
        assert!(allowed("127.0.0.1".parse().unwrap(), &near));
        assert!(allowed("::ffff:127.0.0.1".parse().unwrap(), &near));
        assert!(!allowed("10.0.0.1".parse().unwrap(), &near));
        let all = [Network::read("0.0.0.0/0").unwrap()];
        assert!(!allowed("169.254.169.254".parse().unwrap(), &all));
        assert!(!allowed("::ffff:169.254.169.254".parse().unwrap(), &all));
        for bad in ["127.0.0.1/8", "127.0.0.0", "127.0.0.0/33", "x/8", "::1/129"] {
            assert!(Network::read(bad).is_none(), "{bad}");
        }
    }
}
