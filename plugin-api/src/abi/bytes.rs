//! One owned, immutable block of bytes that crosses the ABI without a copy, in both directions.
//!
//! The rule: the side that allocated the block frees it, through the function pointer that it stored.

use abi_stable::StableAbi;
use std::{ops::Deref, ptr, slice};

/// Layout: address, length, the owner's own word, and the function that frees the block.
#[repr(C)]
#[derive(StableAbi)]
pub struct FfiBytes {
    start: *const u8,
    length: usize,
    owner: *mut (),
    release: unsafe extern "C" fn(start: *const u8, length: usize, owner: *mut ()),
}

// SAFETY: the bytes are never written after construction, and `from_owner` asks for `Send + Sync` of the owner.
unsafe impl Send for FfiBytes {}
// SAFETY: as above; shared access only reads.
unsafe impl Sync for FfiBytes {}

unsafe extern "C" fn release_static(_: *const u8, _: usize, _: *mut ()) {}

unsafe extern "C" fn release_vec(start: *const u8, length: usize, capacity: *mut ()) {
    // SAFETY: only `From<Vec<u8>>` stores this function, together with that Vec's own three parts.
    drop(unsafe { Vec::from_raw_parts(start.cast_mut(), length, capacity as usize) });
}

unsafe extern "C" fn release_box<Owner>(_: *const u8, _: usize, owner: *mut ()) {
    // SAFETY: only `from_owner::<Owner>` stores this function, together with a Box<Owner> it leaked.
    drop(unsafe { Box::from_raw(owner.cast::<Owner>()) });
}

impl FfiBytes {
    pub const fn from_static(bytes: &'static [u8]) -> Self {
        Self { start: bytes.as_ptr(), length: bytes.len(), owner: ptr::null_mut(), release: release_static }
    }

    /// Takes any owner of bytes (`bytes::Bytes`, a mapped file): one small allocation, no copy.
    pub fn from_owner<Owner: AsRef<[u8]> + Send + Sync + 'static>(owner: Owner) -> Self {
        if owner.as_ref().is_empty() {
            return Self::default();
        }
        let owner = Box::new(owner);
        let bytes = (*owner).as_ref();
        let (start, length) = (bytes.as_ptr(), bytes.len());
        Self { start, length, owner: Box::into_raw(owner).cast(), release: release_box::<Owner> }
    }
}

impl From<Vec<u8>> for FfiBytes {
    fn from(bytes: Vec<u8>) -> Self {
        let mut bytes = std::mem::ManuallyDrop::new(bytes);
        Self {
            start: bytes.as_mut_ptr(),
            length: bytes.len(),
            owner: bytes.capacity() as *mut (),
            release: release_vec,
        }
    }
}

impl From<String> for FfiBytes {
    fn from(text: String) -> Self {
        text.into_bytes().into()
    }
}

impl From<&'static str> for FfiBytes {
    fn from(text: &'static str) -> Self {
        Self::from_static(text.as_bytes())
    }
}

impl Default for FfiBytes {
    fn default() -> Self {
        Self::from_static(&[])
    }
}

impl Deref for FfiBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        if self.length == 0 {
            return &[];
        }
        // SAFETY: the constructors store a live block of this length, which stays until `release` runs in drop.
        unsafe { slice::from_raw_parts(self.start, self.length) }
    }
}

impl AsRef<[u8]> for FfiBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl std::fmt::Debug for FfiBytes {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "FfiBytes({} bytes)", self.length)
    }
}

impl Drop for FfiBytes {
    fn drop(&mut self) {
        // SAFETY: called once, with exactly the parts that the constructor stored beside the function.
        unsafe { (self.release)(self.start, self.length, self.owner) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn bytes_are_not_moved_and_are_freed_once() {
        let owner: Arc<[u8]> = Arc::from(&b"shared"[..]);
        let block = FfiBytes::from_owner(owner.clone());
        assert_eq!(block.as_ptr(), owner.as_ptr());
        assert_eq!(Arc::strong_count(&owner), 2);
        drop(block);
        assert_eq!(Arc::strong_count(&owner), 1);
    }

    #[test]
    fn a_vec_crosses_without_a_copy() {
        let bytes = b"text".to_vec();
        let start = bytes.as_ptr();
        let block = FfiBytes::from(bytes);
        assert_eq!((block.as_ptr(), &*block), (start, &b"text"[..]));
    }

    #[test]
    fn empty_blocks_are_empty() {
        assert!(FfiBytes::default().is_empty());
        assert!(FfiBytes::from(Vec::new()).is_empty());
        assert!(FfiBytes::from_owner(String::new()).is_empty());
    }
}
