//! Reads a whole log over HTTP and verifies it with Cloudflare's crates, which share no code with the plugin.

use super::{CHECKPOINT, TestGateway};
use ed25519_dalek::{Signature, VerifyingKey};
use signed_note::{Note, StandardVerifier, VerifierList};
use std::collections::HashMap;
use tlog_tiles::{
    Checkpoint, Error, Tile, TileHashReader, TileReader, check_record, check_tree, prove_record, prove_tree,
    record_hash,
};

const HEIGHT: u8 = 8;
const HASH_BYTES: usize = 32;

/// A log that was verified.
pub struct Audited {
    pub checkpoint: Checkpoint,
    /// Of the cosignature.
    pub time_s: u64,
    pub entries: Vec<Vec<u8>>,
    tiles: HashMap<Tile, Vec<u8>>,
}

impl TileReader for Audited {
    fn height(&self) -> u8 {
        HEIGHT
    }

    fn read_tiles(&self, tiles: &[Tile]) -> Result<Vec<Vec<u8>>, Error> {
        Ok(tiles.iter().map(|tile| self.tiles[tile].clone()).collect())
    }

    fn save_tiles(&self, _: &[Tile], _: &[Vec<u8>]) {}
}

/// Verifies signature, cosignature, every tile and entry, and the inclusion of each entry.
pub async fn audit(gateway: &TestGateway) -> Audited {
    let response = gateway.get(CHECKPOINT).await;
    assert_eq!(response.status, 200, "{}", response.text());
    let log = gateway.collect("discovery", &plugin_testing::json!({})).await["transparency"]["manifest"]["log"].clone();
    let note = Note::from_bytes(&response.body).unwrap();
    let verifier = StandardVerifier::new(log["publicKey"].as_str().unwrap()).unwrap();
    let (verified, others) = note.verify(&VerifierList::new(vec![Box::new(verifier)])).unwrap();
    assert_eq!((verified.len(), others.len()), (1, 1));
    let checkpoint = Checkpoint::from_bytes(note.text()).unwrap();
    assert_eq!(log["origin"], checkpoint.origin());
    let time_s = verify_cosignature(log["cosignatureKey"].as_str().unwrap(), &others[0], note.text());
    let mut audited = Audited { checkpoint, time_s, entries: Vec::new(), tiles: HashMap::new() };
    audited.fetch(gateway).await;
    audited.verify();
    audited
}

/// As C2SP tlog-cosignature says; returns its time.
fn verify_cosignature(key: &str, signature: &signed_note::Signature, text: &[u8]) -> u64 {
    let mut parts = key.splitn(3, '+');
    let (name, id, encoded) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
    let decoded = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, encoded).unwrap();
    assert_eq!((decoded[0], signed_note::key_id(name, &decoded)), (4, u32::from_str_radix(id, 16).unwrap()));
    assert_eq!((signature.name(), signature.id()), (name, u32::from_str_radix(id, 16).unwrap()));
    let (time_s, ed25519) = signature.signature().split_first_chunk().unwrap();
    let time_s = u64::from_be_bytes(*time_s);
    let message = [format!("cosignature/v1\ntime {time_s}\n").as_bytes(), text].concat();
    let key = VerifyingKey::try_from(&decoded[1..]).unwrap();
    key.verify_strict(&message, &Signature::from_slice(ed25519).unwrap()).unwrap();
    time_s
}

impl Audited {
    async fn fetch(&mut self, gateway: &TestGateway) {
        for tile in Tile::new_tiles(HEIGHT, 0, self.checkpoint.size()) {
            let path = tile.path().replacen("tile/8/", "", 1);
            let hashes = get(gateway, &format!("/api/log/tile/{path}")).await;
            assert_eq!(hashes.len(), HASH_BYTES * tile.width() as usize, "{path}");
            if tile.level() == 0 {
                let bundle = path.replacen('0', "entries", 1);
                let entries = unbundled(&get(gateway, &format!("/api/log/tile/{bundle}")).await);
                assert_eq!(entries.len(), tile.width() as usize, "{bundle}");
                let hashed: Vec<u8> = entries.iter().flat_map(|entry| record_hash(entry).0).collect();
                assert_eq!(hashed, hashes, "{bundle}");
                self.entries.extend(entries);
            }
            self.tiles.insert(tile, hashes);
        }
        assert_eq!(self.entries.len() as u64, self.checkpoint.size());
    }

    fn verify(&self) {
        let (size, root) = (self.checkpoint.size(), *self.checkpoint.hash());
        let reader = TileHashReader::new(size, root, self);
        for (entry, number) in self.entries.iter().zip(0..) {
            let proof = prove_record(size, number, &reader).unwrap();
            check_record(&proof, size, root, number, record_hash(entry)).unwrap();
        }
    }

    /// The log continues that one.
    pub fn continues(&self, earlier: &Checkpoint) {
        assert_eq!(self.checkpoint.origin(), earlier.origin());
        let (size, root) = (self.checkpoint.size(), *self.checkpoint.hash());
        // Every tree continues the empty one.
        if earlier.size() > 0 {
            let proof = prove_tree(size, earlier.size(), &TileHashReader::new(size, root, self)).unwrap();
            check_tree(&proof, size, root, earlier.size(), *earlier.hash()).unwrap();
        }
    }

    pub fn json(&self) -> Vec<plugin_testing::Value> {
        self.entries.iter().map(|entry| serde_json::from_slice(entry).unwrap()).collect()
    }
}

async fn get(gateway: &TestGateway, path: &str) -> Vec<u8> {
    let response = gateway.get(path).await;
    assert_eq!(response.status, 200, "{path}: {}", response.text());
    assert_eq!(response.headers["content-type"], "application/octet-stream");
    assert_eq!(response.headers["cache-control"], "public, max-age=31536000, immutable");
    response.body.to_vec()
}

fn unbundled(mut bundle: &[u8]) -> Vec<Vec<u8>> {
    let mut entries = Vec::new();
    while let Some((length, rest)) = bundle.split_first_chunk() {
        let (entry, rest) = rest.split_at(u16::from_be_bytes(*length).into());
        entries.push(entry.to_vec());
        bundle = rest;
    }
    assert!(bundle.is_empty());
    entries
}
