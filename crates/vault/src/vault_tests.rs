use super::*;
use crate::Kind;
use std::fs;

const PASS: &str = "correct horse";

fn entry(label: &str) -> Entry {
    Entry {
        label: label.to_owned(),
        kind: Kind::Bearer,
        origins: vec!["https://api.example.com".to_owned()],
        version: 1,
        at: 1,
    }
}

fn secret(text: &str) -> Secret {
    Secret::new(Zeroizing::new(text.as_bytes().to_vec())).ok().unwrap()
}

/// A vault with two credentials, in a folder.
fn two() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("v");
    let mut vault = Vault::create(&path, PASS).ok().unwrap();
    vault.add(entry("shop"), &secret("canary-one-1234")).unwrap();
    vault.add(entry("mail"), &secret("canary-two-5678")).unwrap();
    (folder, path)
}

fn error(path: &Path) -> VaultError {
    Vault::open(path, PASS).err().unwrap()
}

#[test]
fn a_credential_opens_for_its_origin_alone() {
    let (_folder, path) = two();
    let vault = Vault::open(&path, PASS).ok().unwrap();
    let labels: Vec<String> = vault.entries().into_iter().map(|entry| entry.label).collect();
    assert_eq!(labels, ["mail", "shop"]);
    let (_, found) = vault.secret("shop", "https://api.example.com").ok().unwrap();
    assert_eq!(found.bytes(), b"canary-one-1234");
    for other in [
        "http://api.example.com",
        "https://api.example.com:8443",
        "https://api.example.com.",
        "https://evil.example",
        "https://API.example.com",
    ] {
        assert!(vault.secret("shop", other).is_err(), "{other}");
    }
    assert!(vault.secret("none", "https://api.example.com").is_err());
}

#[test]
fn nothing_of_a_credential_is_readable_in_the_file() {
    let (_folder, path) = two();
    let text = fs::read_to_string(&path).unwrap();
    for word in ["canary", "shop", "mail", "example.com", "bearer"] {
        assert!(!text.contains(word), "{word}");
    }
}

#[test]
fn another_passphrase_opens_nothing() {
    let (_folder, path) = two();
    assert_eq!(Vault::open(&path, "wrong horse!").err().unwrap(), VaultError::Passphrase);
    assert!(Vault::create(&path, PASS).is_err(), "a vault is never replaced");
    assert!(Vault::create(&path.with_extension("b"), "short").is_err());
}

#[test]
fn a_rotated_credential_has_the_next_version() {
    let (_folder, path) = two();
    let mut vault = Vault::change(&path, PASS).ok().unwrap();
    assert!(Vault::change(&path, PASS).is_err(), "one at a time");
    assert_eq!(vault.rotate("shop", &secret("canary-new-9999"), 2).unwrap(), 2);
    vault.remove("mail").unwrap();
    drop(vault);
    let vault = Vault::open(&path, PASS).ok().unwrap();
    assert_eq!(vault.entries().len(), 1);
    let (entry, found) = vault.secret("shop", "https://api.example.com").ok().unwrap();
    assert_eq!((entry.version, found.bytes()), (2, b"canary-new-9999".as_slice()));
}

#[test]
fn exchanged_moved_missing_and_older_entries_are_found() {
    let (_folder, path) = two();
    let before: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let put = |form: &serde_json::Value| fs::write(&path, form.to_string()).unwrap();

    let mut form = before.clone();
    let (one, two) = (form["entries"][0]["secret"].clone(), form["entries"][1]["secret"].clone());
    form["entries"][0]["secret"] = two;
    form["entries"][1]["secret"] = one.clone();
    put(&form);
    assert!(matches!(error(&path), VaultError::Altered(_)), "secrets exchanged");

    let mut form = before.clone();
    form["entries"][0]["about"] = one;
    put(&form);
    assert!(matches!(error(&path), VaultError::Altered(_)), "moved between parts");

    let mut form = before.clone();
    form["entries"].as_array_mut().unwrap().pop();
    put(&form);
    assert!(matches!(error(&path), VaultError::Altered(_)), "one taken out");

    let mut form = before.clone();
    form["generation"] = 99.into();
    put(&form);
    assert!(matches!(error(&path), VaultError::Altered(_)), "another generation");

    // An entry of an earlier version in the newest file.
    put(&before);
    let mut vault = Vault::change(&path, PASS).ok().unwrap();
    vault.rotate("shop", &secret("canary-new-9999"), 2).unwrap();
    drop(vault);
    let after: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let mut form = after.clone();
    form["entries"][0] = before["entries"][0].clone();
    put(&form);
    assert!(matches!(error(&path), VaultError::Altered(_)), "an older entry");

    // The whole earlier file.
    put(&before);
    let why = error(&path).to_string();
    assert!(why.contains("generation 3, and 4 was written"), "{why}");
    put(&after);
    assert!(Vault::open(&path, PASS).is_ok());
    fs::remove_file(beside(&path, "mark")).unwrap();
    assert!(error(&path).to_string().contains("mark is gone"));
}

#[test]
fn altered_letters_are_found() {
    let (_folder, path) = two();
    let good = fs::read_to_string(&path).unwrap();
    // Costs as low as a vault may have would make the loop quick; the format allows no cheaper ones, so some letters do.
    let step = good.len() / 9;
    for at in (step..good.len()).step_by(step) {
        let Some(at) = (at..good.len()).find(|at| good.as_bytes()[*at].is_ascii_alphanumeric())
        else {
            continue;
        };
        let mut bad = good.clone().into_bytes();
        bad[at] = if bad[at] == b'A' { b'B' } else { b'A' };
        fs::write(&path, bad).unwrap();
        assert!(Vault::open(&path, PASS).is_err(), "byte {at}");
    }
}

#[test]
fn a_file_cannot_ask_for_the_machine() {
    let (_folder, path) = two();
    let good: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    for (name, cost) in [("kib", 1_u64 << 30), ("passes", 1 << 20), ("lanes", 1 << 20), ("kib", 8)]
    {
        let mut form = good.clone();
        form["kdf"][name] = cost.into();
        fs::write(&path, form.to_string()).unwrap();
        let why = error(&path).to_string();
        assert!(why.contains("costs that no vault"), "{name} {cost}: {why}");
    }
}

#[test]
fn a_vault_that_others_can_read_is_not_used() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, path) = two();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    assert!(error(&path).to_string().contains("read by others"));
}

#[test]
fn what_a_header_cannot_carry_is_not_stored_and_not_quoted() {
    for bad in ["short", "canary\nX-Evil: 1", "canary-\u{e9}\u{e9}\u{e9}", "canary-\0-value"] {
        let why = Secret::new(Zeroizing::new(bad.as_bytes().to_vec())).err().unwrap().to_string();
        assert!(!why.contains("canary"), "{why}");
    }
    for name in ["Host", "Cookie", "Proxy-Authorization", "Content-Length", "a b", ""] {
        let entry = Entry { kind: Kind::Header { name: name.to_owned() }, ..entry("x") };
        assert!(entry.check().is_err(), "{name}");
    }
}

/// What is on the disk after each step of writing a vault and its mark, as a kill between two of them leaves it.
#[test]
fn a_kill_at_any_step_leaves_the_one_or_the_other_and_nothing_in_the_clear() {
    let (folder, path) = two();
    let mark = beside(&path, "mark");
    let before = (fs::read(&path).unwrap(), fs::read(&mark).unwrap());
    let mut vault = Vault::change(&path, PASS).ok().unwrap();
    vault.rotate("shop", &secret("canary-new-9999"), 2).unwrap();
    drop(vault);
    let after = (fs::read(&path).unwrap(), fs::read(&mark).unwrap());
    let half = |bytes: &[u8]| bytes[..bytes.len() / 2].to_vec();
    let draft = |of: &Path| beside(of, "new");
    // The vault, its mark, the draft that lies about, and the version that must be found.
    let steps = [
        (&before.0, &before.1, Some((draft(&path), Vec::new())), 1),
        (&before.0, &before.1, Some((draft(&path), half(&after.0))), 1),
        (&before.0, &before.1, Some((draft(&path), after.0.clone())), 1),
        (&after.0, &before.1, None, 2),
        (&after.0, &before.1, Some((draft(&mark), half(&after.1))), 2),
        (&after.0, &before.1, Some((draft(&mark), after.1.clone())), 2),
        (&after.0, &after.1, None, 2),
    ];
    for (index, (vault, own_mark, left, version)) in steps.into_iter().enumerate() {
        for of in [&path, &mark] {
            let _ = fs::remove_file(draft(of));
        }
        fs::write(&path, vault).unwrap();
        fs::write(&mark, own_mark).unwrap();
        if let Some((file, bytes)) = left {
            fs::write(file, bytes).unwrap();
        }
        for entry in fs::read_dir(folder.path()).unwrap() {
            let bytes = fs::read(entry.unwrap().path()).unwrap();
            assert!(!String::from_utf8_lossy(&bytes).contains("canary"), "in the clear at {index}");
        }
        let mut vault = Vault::change(&path, PASS).ok().unwrap();
        let entry = vault.about("shop", "https://api.example.com").ok().unwrap();
        assert_eq!(entry.version, version, "at step {index}");
        // And it goes on from there.
        assert_eq!(vault.rotate("shop", &secret("canary-more-777"), 3).unwrap(), version + 1);
        drop(vault);
        assert!(Vault::open(&path, PASS).is_ok(), "at step {index}");
    }

    // Ended between the first writing and the first mark: it is there, and empty.
    let first = folder.path().join("first");
    drop(Vault::create(&first, PASS).ok().unwrap());
    fs::remove_file(beside(&first, "mark")).unwrap();
    let mut vault = Vault::change(&first, PASS).ok().unwrap();
    let (entry, value) = (entry("shop"), secret("canary-first-1"));
    vault.add(entry, &value).unwrap();
    drop(vault);
    fs::remove_file(beside(&first, "mark")).unwrap();
    assert!(
        matches!(error(&first), VaultError::Altered(_)),
        "a mark that is taken away later is missed"
    );
}
