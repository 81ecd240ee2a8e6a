//! nginx with nchan, from Debian's packages: one channel.

use super::nginx;
use crate::server::{Server, Site};
use anyhow::Result;
use std::path::Path;

const MODULE: &str = "/usr/lib/nginx/modules/ngx_nchan_module.so";

pub const PACKAGES: &str = "nginx libnginx-mod-nchan";

pub fn is_installed() -> bool {
    nginx::is_installed() && Path::new(MODULE).is_file()
}

pub fn start() -> Result<Server> {
    let locations = "
    location = /publish { nchan_publisher; nchan_channel_id events; nchan_message_buffer_length 256; }
    location = /api/stream { nchan_subscriber eventsource; nchan_channel_id events; nchan_subscriber_first_message newest; }";
    nginx::start(Site::new()?, &format!("load_module {MODULE};"), locations)
}
