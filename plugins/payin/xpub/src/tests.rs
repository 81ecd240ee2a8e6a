//! Extended public keys of BIP-32's vectors and of our own.

#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;

/// m/44'/60'/7'/0 of the seed of 32 bytes 0x77: computed with @scure/bip32 and viem.
const BRANCH: &str =
    "xpub6Dom4bNvHgeKTBr1kNeTbfKWLVT6aKFmwj419xXdbnNyFUrXuv5gi14gFfX7wBS2NBga96qAwtFwx2hiNqhaQQRoSXyAX32ww4KnaD6cZpz";
/// Its parent, m/44'/60'/7'.
const ACCOUNT: &str =
    "xpub6C9j5N4Uw7Gr1xaPt7JABKKZHVT9XESPSrmSk6KGKspaWGpWdNUhTuKwsjkgPRrWs38pV7J1TaS6RzyAN6mToqg3xrjgNY2xtnrHqnc5ToT";

fn key(text: &str) -> ExtendedPublicKey {
    ExtendedPublicKey::parse(text).unwrap()
}

/// Steps of the test vectors 1 and 2 of BIP-32 that need no private key: parent, index, child.
const STEPS: [(&str, u32, &str); 4] = [
    (
        "xpub68Gmy5EdvgibQVfPdqkBBCHxA5htiqg55crXYuXoQRKfDBFA1WEjWgP6LHhwBZeNK1VTsfTFUHCdrfp1bgwQ9xv5ski8PX9rL2dZXvgGDnw",
        1,
        "xpub6ASuArnXKPbfEwhqN6e3mwBcDTgzisQN1wXN9BJcM47sSikHjJf3UFHKkNAWbWMiGj7Wf5uMash7SyYq527Hqck2AxYysAA7xmALppuCkwQ",
    ),
    (
        "xpub6D4BDPcP2GT577Vvch3R8wDkScZWzQzMMUm3PWbmWvVJrZwQY4VUNgqFJPMM3No2dFDFGTsxxpG5uJh7n7epu4trkrX7x7DogT5Uv6fcLW5",
        2,
        "xpub6FHa3pjLCk84BayeJxFW2SP4XRrFd1JYnxeLeU8EqN3vDfZmbqBqaGJAyiLjTAwm6ZLRQUMv1ZACTj37sR62cfN7fe5JnJ7dh8zL4fiyLHV",
    ),
    (
        "xpub6FHa3pjLCk84BayeJxFW2SP4XRrFd1JYnxeLeU8EqN3vDfZmbqBqaGJAyiLjTAwm6ZLRQUMv1ZACTj37sR62cfN7fe5JnJ7dh8zL4fiyLHV",
        1_000_000_000,
        "xpub6H1LXWLaKsWFhvm6RVpEL9P4KfRZSW7abD2ttkWP3SSQvnyA8FSVqNTEcYFgJS2UaFcxupHiYkro49S8yGasTvXEYBVPamhGW6cFJodrTHy",
    ),
    (
        "xpub661MyMwAqRbcFW31YEwpkMuc5THy2PSt5bDMsktWQcFF8syAmRUapSCGu8ED9W6oDMSgv6Zz8idoc4a6mr8BDzTJY47LJhkJ8UB7WEGuduB",
        0,
        "xpub69H7F5d8KSRgmmdJg2KhpAK8SR3DjMwAdkxj3ZuxV27CprR9LgpeyGmXUbC6wb7ERfvrnKZjXoUmmDznezpbZb7ap6r1D3tgFxHmwMkQTPH",
    ),
];

#[test]
fn children_are_those_of_the_test_vectors_of_bip_32() {
    for (parent, index, child) in STEPS {
        let derived = key(parent).child(index).unwrap();
        assert_eq!((derived.text(), &derived), (child, &key(child)));
        assert_eq!((derived.index(), derived.depth()), (index, key(parent).depth() + 1));
        assert_ne!(derived, key(parent));
    }
    // m/0' of the first vector.
    assert_eq!((key(STEPS[0].0).index(), key(STEPS[0].0).depth()), (HARDENED, 1));
    assert_eq!([HARDENED, u32::MAX].map(|index| key(STEPS[0].0).child(index)), [None, None]);
}

#[test]
fn addresses_are_those_of_other_programs() {
    let branch = key(&format!(" {BRANCH}\n"));
    assert_eq!(branch.text(), BRANCH);
    assert_eq!(
        [0, 1, 5000].map(|index| branch.address(index).unwrap().to_string()),
        [
            "0xC75F02c48cB7f7f0220dee74E7F212906Acc68A3",
            "0x12935FDB277Ce7EE831Dba34454D52D606358796",
            "0xCE597d1353FE4643c00A6e174ABFB52F0505463B",
        ]
    );
    assert_eq!([-1, HARDENED.into(), i64::MAX].map(|index| branch.address(index)), [None; 3]);
    assert_eq!(key(ACCOUNT).child(0).unwrap(), branch);
}

/// Some programs write no parent. Who compares texts would take one key for two.
#[test]
fn keys_with_the_same_children_are_equal() {
    let without_parent = key(
        "xpub661MyMwAqRbcFWvBqQVS5zFeBp1dRAno8eVSkpKWM5n4oZNJqEJVo7cbxRs3aTyPgP8xWZF3i8KP33LUcsqFpV2aDDbaoorc7ntr7DC2ydS",
    );
    assert_eq!((without_parent.depth(), without_parent.index()), (0, 0));
    assert_eq!(without_parent, key(BRANCH));
    assert_eq!(without_parent.address(5000), key(BRANCH).address(5000));
}

/// Extended keys that the test vector 5 of BIP-32 calls invalid, and others that are no public keys of the main network.
#[test]
fn what_is_no_public_key_is_refused() {
    let mistyped = BRANCH.replace("KTBr", "KTBs");
    for (text, reason) in [
        ("", "more characters"),
        ("xpub", "more characters"),
        // Private, and of a format for another kind of address.
        (
            "xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi",
            "it is not xpub",
        ),
        (
            "zpub6jftahH18ngZxLmXaKw3GSZzZsszmt9WqedkyZdezFtWRFBZqsQH5hyUmb4pCEeZGmVfQuP5bedXTB8is6fTv19U1GQRyQUKQGUTzyHACMF",
            "it is not xpub",
        ),
        // A checksum that is wrong, a private key in a public one's text, prefixes 04 and 01, and no point of the curve.
        (&mistyped, "no extended key"),
        (
            "xpub661MyMwAqRbcEYS8w7XLSVeEsBXy79zSzH1J8vCdxAZningWLdN3zgtU6LBpB85b3D2yc8sfvZU521AAwdZafEz7mnzBBsz4wKY5fTtTQBm",
            "no extended key",
        ),
        (
            "xpub661MyMwAqRbcEYS8w7XLSVeEsBXy79zSzH1J8vCdxAZningWLdN3zgtU6Txnt3siSujt9RCVYsx4qHZGc62TG4McvMGcAUjeuwZdduYEvFn",
            "no extended key",
        ),
        (
            "xpub661MyMwAqRbcEYS8w7XLSVeEsBXy79zSzH1J8vCdxAZningWLdN3zgtU6N8ZMMXctdiCjxTNq964yKkwrkBJJwpzZS4HS2fxvyYUA4q2Xe4",
            "no extended key",
        ),
        (
            "xpub661MyMwAqRbcEYS8w7XLSVeEsBXy79zSzH1J8vCdxAZningWLdN3zgtU6Q5JXayek4PRsn35jii4veMimro1xefsM58PgBMrvdYre8QyULY",
            "no extended key",
        ),
    ] {
        let problem = ExtendedPublicKey::parse(text).unwrap_err();
        assert!(problem.contains(reason), "{text}: {problem}");
    }
}
