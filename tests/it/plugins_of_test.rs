//! Plugins that a test defines: name and definition of each.

macro_rules! plugins {
    ($($name:ident $text:literal: $definition:expr;)*) => {
        $(
            struct $name;

            impl plugin_api::host::Identity for $name {
                const NAME: &'static str = $text;
                const VERSION: &'static str = "1.0.0";
                const SUMMARY: &'static str = "A plugin of this test";
            }

            impl plugin_api::Plugin for $name {
                type Config = plugin_api::NoConfig;

                fn define() -> plugin_api::Definition<Self> {
                    $definition
                }

                fn new(_: plugin_api::NoConfig, _: &plugin_api::HostHandle) -> Result<Self, plugin_api::ConfigError> {
                    Ok(Self)
                }
            }
        )*
    };
}
