//! `[[elastic]]`: does it name particles that exist, as many as it draws them to, and pull for a while.

use super::super::schema::*;
use super::{Check, cloth_called, shape_counts};

impl Check<'_> {
    pub(super) fn elastic(&mut self, path: &str, elastic: &ElasticFile, scene: &SceneFile) {
        let at = |field: &str| format!("{path}.{field}");
        self.elastic_end(path, elastic.cloth.as_deref(), &elastic.indices, scene);
        match (&elastic.to, elastic.place) {
            (Some(to), None) => self.elastic_pairs(path, elastic, to, scene),
            (None, Some(_)) => {}
            (None, None) => {
                let help = "add to = { cloth = \"name\", indices = [0] }, or place = [0, 1, 0]";
                self.fail(path, "does not say where it draws to", help);
            }
            (Some(_), Some(_)) => {
                self.fail(&at("place"), "and to are both given", "keep one of the two");
            }
        }
        if elastic.place.is_none() && !elastic.motion.is_empty() {
            self.fail(&at("motion"), "moves a place, and there is none", "add place, or remove the motion");
        }
        self.above_zero(&at("time"), elastic.time, " s", "0.1 is the default");
        self.frames_in_order(path, elastic.from, elastic.until, scene, "elastic");
        self.keys(path, &elastic.motion, elastic.pivot.is_some());
    }

    fn elastic_end(&mut self, path: &str, name: Option<&str>, indices: &[u32], scene: &SceneFile) {
        let Some(cloth) = self.which_cloth(path, name, scene, "draws") else { return };
        if indices.is_empty() {
            self.fail(&format!("{path}.indices"), "is empty", "list at least one particle, or remove it");
        }
        let known = scene.cloth[cloth].shape.as_ref().and_then(|s| shape_counts(s).vertices);
        self.particles(&format!("{path}.indices"), indices, known);
    }

    fn elastic_pairs(&mut self, path: &str, elastic: &ElasticFile, to: &EndFile, scene: &SceneFile) {
        let end = format!("{path}.to");
        self.elastic_end(&end, to.cloth.as_deref(), &to.indices, scene);
        let (drawn, ends) = (elastic.indices.len(), to.indices.len());
        if drawn != ends {
            let what = format!("has {ends} particles for the {drawn} that are drawn");
            self.fail(&format!("{end}.indices"), what, "list one for each, in the same order");
        }
        let cloth = |name: &Option<String>| cloth_called(name.as_deref(), scene);
        if cloth(&elastic.cloth) == cloth(&to.cloth)
            && let Some(k) = elastic.indices.iter().zip(&to.indices).position(|(a, b)| a == b)
        {
            let what = format!("draws particle {} to itself", to.indices[k]);
            self.fail(&format!("{end}.indices.{k}"), what, "name another particle, or another cloth");
        }
    }
}
