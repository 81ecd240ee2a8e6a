//! nginx from Debian's package, one worker: what its configuration needs wherever it runs.

use crate::server::{Server, Site};
use anyhow::Result;
use std::{fs, path::Path, process::Command};

const NGINX: &str = "/usr/sbin/nginx";

pub fn is_installed() -> bool {
    Path::new(NGINX).is_file()
}

/// A server with these locations, after these lines of the whole configuration. It writes with the rights of its caller.
pub fn start(site: Site, main: &str, locations: &str) -> Result<Server> {
    start_with(site, main, "", locations)
}

/// The same, with these lines beside the server.
pub fn start_with(site: Site, main: &str, http: &str, locations: &str) -> Result<Server> {
    let folder = site.folder.path();
    let address = site.address;
    let name = folder.display();
    let config = format!(
        "daemon off; user root; worker_processes 1; worker_rlimit_nofile 16384; pid {name}/pid; error_log {name}/errors;
{main}
events {{ worker_connections 8192; }}
http {{
  access_log off;
  client_body_temp_path {name}/client; proxy_temp_path {name}/proxy; fastcgi_temp_path {name}/fastcgi;
  uwsgi_temp_path {name}/uwsgi; scgi_temp_path {name}/scgi;
  keepalive_requests 1000000;
{http}
  server {{
    listen {address} backlog=4096;
    location = /ready {{ return 200; }}
{locations}
  }}
}}
"
    );
    fs::write(folder.join("nginx.conf"), config)?;
    let mut command = Command::new(NGINX);
    command.arg("-p").arg(folder).arg("-c").arg(folder.join("nginx.conf"));
    Server::start(site, command, "/ready")
}
