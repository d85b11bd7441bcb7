//! Passphrases of people: what one must be, and the key that is stretched out of it (Argon2id, RFC 9106).

use crate::{StoreError, limits};
use argon2::{Algorithm, Argon2, Params, Version};
use zeroize::Zeroizing;

/// Bytes of a key.
pub const KEY: usize = 32;

/// What one try costs: memory in KiB, passes, lanes.
pub type Costs = (u32, u32, u32);

/// Whether a passphrase may seal anything.
///
/// # Errors
/// Where it is shorter than [`limits::PASSPHRASE`] characters.
pub fn check(passphrase: &str) -> Result<(), StoreError> {
    if passphrase.chars().count() >= limits::PASSPHRASE {
        return Ok(());
    }
    Err(StoreError::conflict(format!(
        "A passphrase has at least {} characters; nothing was written.",
        limits::PASSPHRASE
    )))
}

/// The key that comes of a passphrase. Whoever reads the costs from a file holds them against [`limits::KDF_MOST`] first.
///
/// # Errors
/// Where the salt or the costs are none that Argon2id takes.
pub fn stretched(
    passphrase: &str,
    salt: &[u8],
    (memory, passes, lanes): Costs,
) -> Result<Zeroizing<[u8; KEY]>, StoreError> {
    let failed = |why: argon2::Error| {
        StoreError::conflict(format!("The passphrase could not be stretched: {why}."))
    };
    let params = Params::new(memory, passes, lanes, Some(KEY)).map_err(failed)?;
    let mut key = Zeroizing::new([0_u8; KEY]);
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(passphrase.as_bytes(), salt, key.as_mut())
        .map_err(failed)?;
    Ok(key)
}
