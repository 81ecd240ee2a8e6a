//! Work that runs by itself.

pub mod write_network_pages;
