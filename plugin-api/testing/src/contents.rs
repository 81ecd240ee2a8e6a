//! Assertions on a plugin's manifest, without starting the plugin.

use plugin_api::{
    abi::PluginModule_Ref,
    manifest::{Auth, Manifest, RateLimit},
};

/// The plugin's manifest. Like the other functions here, it panics when the plugin does not meet its requirement.
pub fn manifest(module: PluginModule_Ref) -> Manifest {
    let json = (module.manifest())().into_result().expect("a manifest");
    serde_json::from_slice(&json).expect("a manifest in JSON")
}

/// Method, path, operation and, of signed routes, the action.
pub fn routes(manifest: &Manifest) -> Vec<(&str, &str, &str, Option<&str>)> {
    manifest
        .routes
        .iter()
        .map(|route| (route.method.as_str(), route.path.as_str(), route.operation.as_str(), route.auth.action()))
        .collect()
}

/// Every write is signed in its body and counts towards the shared limit of writes; no read does. A call that its caller pays for is
/// neither.
pub fn assert_writes_are_guarded(manifest: &Manifest) {
    for route in manifest.routes.iter().filter(|route| route.price.is_none()) {
        let is_write = route.method != "GET";
        assert_eq!(matches!(route.auth, Auth::SignedBody { .. }), is_write, "{}", route.operation);
        let limits = if is_write { vec![RateLimit::commons_writes()] } else { Vec::new() };
        assert_eq!(route.rate_limits, limits, "{}", route.operation);
    }
}
