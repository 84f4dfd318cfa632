//! The secrets of a server: the token of its address, and the cookie for which it is exchanged.

use std::fmt;
use std::hint::black_box;

use sha2::{Digest, Sha256};

/// Number of random bytes of a secret.
const BYTES: usize = 32;

/// A secret: 256 random bits as hexadecimal digits. Its debug form does not show it.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    fn new() -> Result<Self, getrandom::Error> {
        let mut bytes = [0u8; BYTES];
        getrandom::fill(&mut bytes)?;
        Ok(Self(hexadecimal(&bytes)))
    }

    /// Returns its digits.
    pub fn digits(&self) -> &str {
        &self.0
    }

    /// Whether a text is the secret. The time does not depend on where they differ.
    pub fn is(&self, text: &[u8]) -> bool {
        // Digests have one length, and what is known of a digest is nothing of its text.
        let [own, other] = [self.0.as_bytes(), text].map(Sha256::digest);
        let differences = own.iter().zip(&other).fold(0u8, |all, (a, b)| all | (a ^ b));
        black_box(differences) == 0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// The secrets of one run of a server.
#[derive(Debug)]
pub struct Keys {
    /// The token of the address.
    pub token: Secret,
    /// The value of the cookie.
    pub cookie: Secret,
    /// The name of the cookie, so that several servers of one host have their own.
    pub cookie_name: String,
    /// The folder of all addresses, `/RANDOM`. A browser sends a cookie to each port of a host, and so
    /// to servers of other users, but only below its path, which those do not know.
    pub folder: String,
}

impl Keys {
    /// Draws new secrets.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn new() -> Result<Self, getrandom::Error> {
        let (mut name, mut folder) = ([0u8; 4], [0u8; 16]);
        getrandom::fill(&mut name)?;
        getrandom::fill(&mut folder)?;
        Ok(Self {
            token: Secret::new()?,
            cookie: Secret::new()?,
            cookie_name: format!("flowmine_{}", hexadecimal(&name)),
            folder: format!("/{}", hexadecimal(&folder)),
        })
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_itself_and_nothing_else() {
        let keys = Keys::new().expect("random numbers");
        let digits = keys.token.digits().to_owned();
        assert_eq!(digits.len(), 64);
        assert!(keys.token.is(digits.as_bytes()));
        for other in ["", &digits[1..], &format!("{digits}0"), keys.cookie.digits(), &digits.to_uppercase().replace(char::is_numeric, "0")]
        {
            assert!(!keys.token.is(other.as_bytes()));
        }
        assert!(!format!("{keys:?}").contains(&digits));
    }
}
