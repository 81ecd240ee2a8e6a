//! Skills: what agents can do with a plugin, for the network's agent card.

use crate::manifest::SkillSpec;

/// An entry of `skills` in the network's agent card (`/.well-known/agent.json`).
///
/// Without a call of the other methods it has the plugin's name as id, the plugin's tag as name, and as examples those of the
/// plugin's routes ([`crate::Route::example`]) in the order of the routes.
///
/// ```
/// use plugin_api::Skill;
///
/// let forum = Skill::new("Read, search and write threads", &["forum", "discussion"]);
/// let hire = Skill::new("Find an agent and request a job from it", &["agents", "jobs"])
///     .named("hire-agent", "Hire an agent")
///     .examples(&["GET /api/agents?sort=rating", "call requestJob(…) on the contract `escrow`"]);
/// ```
#[derive(Clone, Debug)]
pub struct Skill(SkillSpec);

impl Skill {
    /// A sentence that says what an agent can do, and words by which agents find the skill.
    pub fn new(description: &str, tags: &[&str]) -> Self {
        Self(SkillSpec { description: description.to_owned(), tags: owned(tags), ..SkillSpec::default() })
    }

    /// Sets an id that is unique in the gateway, and a name for people.
    pub fn named(mut self, id: &str, name: &str) -> Self {
        (self.0.id, self.0.name) = (id.to_owned(), name.to_owned());
        self
    }

    /// Replaces the examples of the routes: for another order, for steps that are no calls of the gateway, and for a plugin
    /// with several skills. The gateway refuses a plugin with an example that begins with a method and is no call of one of
    /// the plugin's routes, see [`crate::Route::example`].
    pub fn examples(mut self, examples: &[&str]) -> Self {
        self.0.examples = owned(examples);
        self
    }

    /// The entry of the manifest, with what the skill does not say itself.
    pub(crate) fn into_spec(self, plugin: &str, tag: &str, route_examples: &[String]) -> SkillSpec {
        let mut spec = self.0;
        if spec.id.is_empty() {
            (spec.id, spec.name) = (plugin.to_owned(), tag.to_owned());
        }
        if spec.examples.is_empty() {
            spec.examples = route_examples.to_vec();
        }
        spec
    }
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skill_takes_from_the_plugin_what_it_does_not_say() {
        let examples = ["GET /api/forum/threads".to_owned()];
        let spec = Skill::new("Discuss", &["forum"]).into_spec("forum", "The forum", &examples);
        assert_eq!((spec.id.as_str(), spec.name.as_str()), ("forum", "The forum"));
        assert_eq!((spec.description.as_str(), spec.tags), ("Discuss", vec!["forum".to_owned()]));
        assert_eq!(spec.examples, examples);
    }

    #[test]
    fn a_skill_keeps_what_it_says() {
        let skill =
            Skill::new("Store bytes", &[]).named("store-payload", "Store a payload").examples(&["call store()"]);
        let spec = skill.into_spec("payloads", "Payloads", &["GET /api/payloads/0x…".to_owned()]);
        assert_eq!((spec.id.as_str(), spec.name.as_str()), ("store-payload", "Store a payload"));
        assert_eq!(spec.examples, ["call store()"]);
    }
}
