//! What a plugin says of itself before it is started.

use plugin_api::{
    abi::PluginModule_Ref,
    manifest::{Auth, Manifest, RateLimit},
    point::Briefing,
};

/// Panics when it is none, as every helper here when the plugin is not as it should be.
pub fn manifest(module: PluginModule_Ref) -> Manifest {
    let written = (module.manifest())().into_result().expect("a manifest");
    serde_json::from_slice(&written).expect("a manifest in JSON")
}

/// Method, path, operation and, where a signature is asked for, its action.
pub fn routes(manifest: &Manifest) -> Vec<(&str, &str, &str, Option<&str>)> {
    manifest
        .routes
        .iter()
        .map(|route| (route.method.as_str(), route.path.as_str(), route.operation.as_str(), route.auth.action()))
        .collect()
}

/// Every write is signed in its body and counts against the limit that all writes share; no read does either.
pub fn assert_writes_are_guarded(manifest: &Manifest) {
    for route in &manifest.routes {
        let is_write = route.method != "GET";
        assert_eq!(matches!(route.auth, Auth::SignedBody { .. }), is_write, "{}", route.operation);
        let limits = if is_write { vec![RateLimit::commons_writes()] } else { Vec::new() };
        assert_eq!(route.rate_limits, limits, "{}", route.operation);
    }
}

/// Every path that the section of llms.txt names is one that can be read.
pub fn assert_paths_are_routes(manifest: &Manifest, briefing: &Briefing) {
    assert!(!briefing.links.is_empty(), "{} names no path", briefing.title);
    for link in &briefing.links {
        assert!(
            manifest.routes.iter().any(|route| route.method == "GET" && route.path == link.path),
            "{} is no route",
            link.path
        );
    }
}
