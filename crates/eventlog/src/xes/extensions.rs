//! stub
pub fn find(_prefix: &str) -> Option<&'static (&'static str, &'static str, &'static str)> { None }
impl From<&'static (&'static str, &'static str, &'static str)> for crate::Extension {
    fn from(e: &'static (&'static str, &'static str, &'static str)) -> Self { Self { name: e.0.into(), prefix: e.1.into(), uri: e.2.into() } }
}
