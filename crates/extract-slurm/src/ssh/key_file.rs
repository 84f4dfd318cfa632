//! What a private key file is, read without opening it: whether it is encrypted and which public
//! key it belongs to.
//!
//! The input is the bytes of a file; the output is a [`KeyFile`]. libssh2 reports a missing
//! passphrase as "Unsupported private key format", so the question is answered here first.
//! OpenSSH's own format names its cipher and carries the public key in clear (PROTOCOL.key in
//! OpenSSH's source); PEM files have `ENCRYPTED` in a header (RFC 1421, RFC 5958). PuTTY's format
//! and files that are not a key are refused, with advice.

use std::io::{Error, ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use base64::Engine;
use flowmine_files::{FileError, open_plain, read_plain};

use super::known_hosts::{LENIENT, PublicKey};
use super::{SshError, config};

/// Larger files are not read: a 16384-bit RSA key takes 13 kB.
const MAX_BYTES: u64 = 1 << 20;

/// What the bytes of a key file are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeyFormat {
    /// A private key. `cipher` is the cipher of its encryption, `public` its public half where that
    /// is in clear.
    Private {
        /// The cipher's name, or none for a key in clear.
        cipher: Option<String>,
        /// The public half of the key, where the file has it.
        public: Option<PublicKey>,
    },
    /// Only a public key, as IdentityFile may name to choose one of the agent's.
    Public(PublicKey),
}

/// A key file that was read.
pub(crate) struct KeyFile {
    /// Path of the key file.
    pub path: PathBuf,
    /// What kind of key the file holds.
    pub kind: KeyFormat,
    /// Content of the file.
    pub text: String,
    mode: u32,
    owner: u32,
}

impl KeyFile {
    /// Reads a key file; none when there is no such file.
    pub fn read(path: &Path) -> Result<Option<Self>, SshError> {
        let unusable = |why: String| SshError::KeyFormat { file: path.to_owned(), why };
        let advice = "make it readable for you, or name another key with IdentityFile";
        let failed = |source| SshError::Read { file: path.to_owned(), source, advice };
        let no_key = || unusable("it is not a key file; name another one with IdentityFile".to_owned());
        let file = match open_plain(path) {
            Ok(file) => file,
            Err(FileError::Foreign(_)) => return Err(no_key()),
            Err(error) => match Error::from(error) {
                error if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
                error => return Err(failed(error)),
            },
        };
        let about = file.metadata().map_err(failed)?;
        let mut bytes = Vec::new();
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(no_key());
        }
        let text = String::from_utf8(bytes).map_err(|_| unusable("it is not text; name a key that ssh-keygen made".to_owned()))?;
        let mut kind = inspect(&text).map_err(unusable)?;
        // A PEM file does not show its public key, but a neighbour may.
        if let KeyFormat::Private { public: public @ None, .. } = &mut kind {
            let mut neighbour = path.as_os_str().to_owned();
            neighbour.push(".pub");
            let bytes = read_plain(Path::new(&neighbour), MAX_BYTES).ok();
            *public = bytes.and_then(|bytes| public_line(&String::from_utf8(bytes).ok()?));
        }
        Ok(Some(Self { path: path.to_owned(), kind, text, mode: about.mode() & 0o7777, owner: about.uid() }))
    }

    /// The public key, as far as it is known.
    pub fn public(&self) -> Option<&PublicKey> {
        match &self.kind {
            KeyFormat::Private { public, .. } => public.as_ref(),
            KeyFormat::Public(public) => Some(public),
        }
    }

    /// Refuses a private key that users other than its owner can read. As in OpenSSH, the mode of a
    /// file of another user is not checked: that user set it.
    pub fn check_permissions(&self) -> Result<(), SshError> {
        let ours = config::own_uid().is_none_or(|uid| uid == self.owner);
        if ours && self.mode & 0o077 != 0 {
            return Err(SshError::KeyPermissions { file: self.path.clone(), mode: self.mode });
        }
        Ok(())
    }
}

/// Returns the format of the text of a key file, or the reason why it is not usable.
pub(crate) fn inspect(text: &str) -> Result<KeyFormat, String> {
    if text.starts_with("PuTTY-User-Key-File") {
        return Err("it is in PuTTY's format; convert it with `puttygen KEY -O private-openssh -o NEW`".to_owned());
    }
    let Some((label, body)) = pem(text) else {
        return public_line(text)
            .map(KeyFormat::Public)
            .ok_or_else(|| "it holds no key that is understood; name a key that ssh-keygen made".to_owned());
    };
    match label {
        "OPENSSH PRIVATE KEY" => {
            let bytes = LENIENT
                .decode(body.split_ascii_whitespace().collect::<String>())
                .map_err(|_| "its base64 is damaged; restore it from a copy".to_owned())?;
            openssh(&bytes).ok_or_else(|| "it is cut or damaged; restore it from a copy".to_owned())
        }
        "ENCRYPTED PRIVATE KEY" => Ok(KeyFormat::Private { cipher: Some("PKCS#8".to_owned()), public: None }),
        "PRIVATE KEY" | "RSA PRIVATE KEY" | "EC PRIVATE KEY" => {
            // RFC 1421 headers: `Proc-Type: 4,ENCRYPTED`, `DEK-Info: AES-128-CBC,…`.
            let header = |name: &str| body.lines().find_map(|l| l.strip_prefix(name)).map(str::trim);
            let encrypted = header("Proc-Type:").is_some_and(|v| v.contains("ENCRYPTED"));
            let cipher = header("DEK-Info:").and_then(|v| v.split(',').next()).unwrap_or("unknown");
            let cipher: String = cipher.chars().filter(char::is_ascii_graphic).take(40).collect();
            Ok(KeyFormat::Private { cipher: encrypted.then_some(cipher), public: None })
        }
        "DSA PRIVATE KEY" => Err("it is a DSA key, which servers do not accept any more; make an ed25519 key".to_owned()),
        _ => Err("it is no private key; name a key that ssh-keygen made".to_owned()),
    }
}

/// The label and the body of the first PEM block.
fn pem(text: &str) -> Option<(&str, &str)> {
    let (_, rest) = text.split_once("-----BEGIN ")?;
    let (label, rest) = rest.split_once("-----")?;
    let (body, _) = rest.split_once("-----END ")?;
    Some((label, body))
}

fn openssh(bytes: &[u8]) -> Option<KeyFormat> {
    let mut rest = bytes.strip_prefix(b"openssh-key-v1\0")?;
    let cipher = take_string(&mut rest)?;
    let _kdf = take_string(&mut rest)?;
    let _kdf_options = take_string(&mut rest)?;
    let (count, after) = rest.split_first_chunk::<4>()?;
    rest = after;
    if u32::from_be_bytes(*count) != 1 {
        return None;
    }
    let public = PublicKey::from_blob(take_string(&mut rest)?);
    let cipher = std::str::from_utf8(cipher).ok().filter(|c| c.bytes().all(|b| b.is_ascii_graphic()))?;
    Some(KeyFormat::Private { cipher: (cipher != "none").then(|| cipher.to_owned()), public })
}

/// A length-prefixed string (RFC 4251, section 5).
fn take_string<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (string, rest) = rest.split_at_checked(usize::try_from(u32::from_be_bytes(*length)).ok()?)?;
    *bytes = rest;
    Some(string)
}

/// The key of a `.pub` file: type, base64, comment.
fn public_line(text: &str) -> Option<PublicKey> {
    let mut fields = text.lines().next()?.split_ascii_whitespace();
    let (key_type, encoded) = (fields.next()?, fields.next()?);
    let key = PublicKey::from_blob(&LENIENT.decode(encoded).ok()?)?;
    (key.key_type() == key_type).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::engine::general_purpose::STANDARD;
    use proptest::prelude::*;

    fn string(bytes: &[u8]) -> Vec<u8> {
        [&(bytes.len() as u32).to_be_bytes()[..], bytes].concat()
    }

    fn openssh_text(cipher: &str) -> String {
        let public = [string(b"ssh-ed25519"), string(&[7; 32])].concat();
        let bytes = [
            b"openssh-key-v1\0".to_vec(),
            string(cipher.as_bytes()),
            string(b"bcrypt"),
            string(b""),
            1_u32.to_be_bytes().to_vec(),
            string(&public),
            string(b"secret"),
        ]
        .concat();
        format!("-----BEGIN OPENSSH PRIVATE KEY-----\n{}\n-----END OPENSSH PRIVATE KEY-----\n", STANDARD.encode(bytes))
    }

    #[test]
    fn openssh_format_says_cipher_and_public_key() {
        let KeyFormat::Private { cipher: None, public: Some(public) } = inspect(&openssh_text("none")).unwrap() else { panic!() };
        assert_eq!(public.key_type(), "ssh-ed25519");
        let KeyFormat::Private { cipher: Some(cipher), .. } = inspect(&openssh_text("aes256-ctr")).unwrap() else { panic!() };
        assert_eq!(cipher, "aes256-ctr");
    }

    #[test]
    fn pem_forms() {
        let block = |label: &str, head: &str| format!("-----BEGIN {label}-----\n{head}AAAA\n-----END {label}-----\n");
        let cipher = |text: String| match inspect(&text).unwrap() {
            KeyFormat::Private { cipher, .. } => cipher,
            KeyFormat::Public(_) => panic!(),
        };
        assert_eq!(cipher(block("RSA PRIVATE KEY", "")), None);
        assert_eq!(cipher(block("PRIVATE KEY", "")), None);
        assert_eq!(cipher(block("ENCRYPTED PRIVATE KEY", "")), Some("PKCS#8".to_owned()));
        let head = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n";
        assert_eq!(cipher(block("EC PRIVATE KEY", head)), Some("AES-128-CBC".to_owned()));
    }

    #[test]
    fn what_is_no_key_is_refused_with_advice() {
        for (text, advice) in [
            ("", "ssh-keygen"),
            ("hello", "ssh-keygen"),
            ("PuTTY-User-Key-File-3: ssh-ed25519", "puttygen"),
            ("-----BEGIN CERTIFICATE-----\nAA\n-----END CERTIFICATE-----", "ssh-keygen"),
            ("-----BEGIN DSA PRIVATE KEY-----\nAA\n-----END DSA PRIVATE KEY-----", "ed25519"),
            ("-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----", "restore"),
            ("-----BEGIN OPENSSH PRIVATE KEY-----\n!\n-----END OPENSSH PRIVATE KEY-----", "restore"),
        ] {
            let why = inspect(text).unwrap_err();
            assert!(why.contains(advice), "{text}: {why}");
        }
    }

    /// A FIFO in the place of a key or of its neighbour would keep `observe` waiting.
    #[test]
    fn only_files_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        nix::unistd::mkfifo(&at("fifo"), nix::sys::stat::Mode::from_bits_truncate(0o600)).unwrap();
        for path in [at("fifo"), folder.path().to_owned(), PathBuf::from("/dev/zero")] {
            let failure = KeyFile::read(&path).err().unwrap().to_string();
            assert!(failure.contains("it is not a key file"), "{failure}");
        }
        let pem = "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n";
        std::fs::write(at("key"), pem).unwrap();
        nix::unistd::mkfifo(&at("key.pub"), nix::sys::stat::Mode::from_bits_truncate(0o600)).unwrap();
        assert!(KeyFile::read(&at("key")).unwrap().unwrap().public().is_none());
        std::fs::write(at("large"), vec![b'x'; 1 << 21]).unwrap();
        assert!(KeyFile::read(&at("large")).err().unwrap().to_string().contains("it is not a key file"));
    }

    #[test]
    fn open_permissions_are_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        std::fs::write(&path, openssh_text("none")).unwrap();
        let with = |mode: u32| {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            KeyFile::read(&path).unwrap().unwrap().check_permissions()
        };
        assert!(with(0o600).is_ok() && with(0o400).is_ok());
        for mode in [0o640, 0o604, 0o660, 0o610] {
            let failure = with(mode).unwrap_err().to_string();
            assert!(failure.contains(&format!("{mode:04o}")) && failure.contains("chmod 600"), "{failure}");
        }
        assert!(KeyFile::read(&folder.path().join("none")).unwrap().is_none());
        assert!(KeyFile::read(folder.path()).is_err());
    }

    proptest! {
        #[test]
        fn inspection_never_panics(text in "(?s).{0,300}", bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = inspect(&text);
            let _ = openssh(&bytes);
            let _ = openssh(&[b"openssh-key-v1\0".as_slice(), &bytes].concat());
            let _ = inspect(&format!("-----BEGIN OPENSSH PRIVATE KEY-----{}-----END ", STANDARD.encode(&bytes)));
        }
    }
}
