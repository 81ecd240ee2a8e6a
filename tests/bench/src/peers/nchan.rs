//! nginx with nchan, from Debian's packages: one worker, one channel.

use crate::server::{Server, Site};
use anyhow::Result;
use std::{fs, path::Path, process::Command};

const NGINX: &str = "/usr/sbin/nginx";
const MODULE: &str = "/usr/lib/nginx/modules/ngx_nchan_module.so";

pub const PACKAGES: &str = "nginx libnginx-mod-nchan";

pub fn is_installed() -> bool {
    Path::new(NGINX).is_file() && Path::new(MODULE).is_file()
}

pub fn start() -> Result<Server> {
    let site = Site::new()?;
    let folder = site.folder.path();
    let address = site.address;
    let folder_name = folder.display();
    let config = format!(
        "daemon off; worker_processes 1; worker_rlimit_nofile 16384; pid {folder_name}/pid; error_log {folder_name}/errors;
load_module {MODULE};
events {{ worker_connections 8192; }}
http {{
  access_log off;
  client_body_temp_path {folder_name}/client; proxy_temp_path {folder_name}/proxy; fastcgi_temp_path {folder_name}/fastcgi;
  uwsgi_temp_path {folder_name}/uwsgi; scgi_temp_path {folder_name}/scgi;
  keepalive_requests 1000000;
  server {{
    listen {address} backlog=4096;
    location = /ready {{ return 200; }}
    location = /publish {{ nchan_publisher; nchan_channel_id events; nchan_message_buffer_length 256; }}
    location = /api/stream {{ nchan_subscriber eventsource; nchan_channel_id events; nchan_subscriber_first_message newest; }}
  }}
}}
"
    );
    fs::write(folder.join("nginx.conf"), config)?;
    let mut command = Command::new(NGINX);
    command.arg("-p").arg(folder).arg("-c").arg(folder.join("nginx.conf"));
    Server::start(site, command, "/ready")
}
