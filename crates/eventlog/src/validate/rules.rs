//! The rules that files are checked against: a word, how bad it is to break it, and what the schema
//! or the standard says.

use crate::read::Severity;

/// How many findings of one rule are shown with their places; the rest are counted.
pub const SHOWN: u64 = 100;

/// Something that a file can be checked for.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// The word by which findings name it.
    pub word: &'static str,
    /// How bad it is to break the rule.
    pub severity: Severity,
    /// What the schema or the standard says.
    pub says: &'static str,
    /// How many findings are shown with their places.
    pub shown: u64,
}

macro_rules! rules {
    ($($name:ident $word:literal $severity:ident $shown:expr, $says:literal;)*) => {
        $(
            #[doc = $says]
            pub(super) static $name: Rule = Rule { word: $word, severity: Severity::$severity, says: $says, shown: $shown };
        )*

        /// All rules for JSON and XML.
        ///
        /// | rule | severity | what the schema or the standard says |
        /// |---|---|---|
        $(#[doc = concat!("| `", $word, "` | ", stringify!($severity), " | ", $says, " |")])*
        pub static RULES: &[&Rule] = &[$(&$name),*];
    };
}

rules! {
    // Any file.
    NOT_JSON "not_json" Error SHOWN, "RFC 8259: the text is one JSON value; nothing after this place was checked";
    NOT_XML "not_xml" Error SHOWN, "XML 1.0: the document is well-formed; nothing after this place was checked";
    DOCTYPE "doctype" Error SHOWN, "Neither schema has a document type declaration; with entities it can be an attack, so it is not read further";
    REFUSED "refused" Error SHOWN, "Cut or damaged gz, an encoding other than UTF-8, or a part so large or nested so deep that it would fill the memory; nothing after this place was checked";
    // Structure, both forms of OCEL.
    MISSING "missing" Error SHOWN, "OCEL 2.0 schemas, XES schema: required parts are present";
    WRONG_JSON_TYPE "wrong_json_type" Error SHOWN, "OCEL 2.0 JSON schema, `type`: each member has the JSON type that the schema names";
    UNKNOWN_MEMBER "unknown_member" Note SHOWN, "OCEL 2.0 JSON schema: other members are allowed and mean nothing";
    REPEATED_MEMBER "repeated_member" Warning SHOWN, "RFC 8259 section 4: names within an object are unique; readers take the last or the first";
    UNKNOWN_ELEMENT "unknown_element" Error SHOWN, "OCEL 2.0 and XES XSD: only the elements that the schema names, where it names them";
    ELEMENT_ORDER "element_order" Error SHOWN, "OCEL 2.0 XSD: object-types, event-types, objects, events; attributes before objects. XES: extension, global, classifier, attributes, trace, event; in a trace attributes before events";
    REPEATED_ELEMENT "repeated_element" Error SHOWN, "OCEL 2.0 and XES XSD, `maxOccurs`: once";
    UNKNOWN_XML_ATTRIBUTE "unknown_xml_attribute" Error SHOWN, "OCEL 2.0 and XES XSD: only the XML attributes that the schema names";
    UNEXPECTED_TEXT "unexpected_text" Error SHOWN, "OCEL 2.0 and XES XSD: text only where the content is mixed or simple";
    NAMESPACE "namespace" Error SHOWN, "OCEL 2.0 and XES XSD: elements are in no namespace";
    // Names, types and values of OCEL.
    DUPLICATE_TYPE "duplicate_type" Error SHOWN, "OCEL 2.0 XSD, `objectTypeKey`, `eventTypeKey`; SQLite: primary key of `object_map_type`, `event_map_type`: a type is declared once";
    DUPLICATE_TYPE_ATTRIBUTE "duplicate_type_attribute" Error SHOWN, "OCEL 2.0 XSD, `objectTypeAttributeKey`, `eventTypeAttributeKey`; SQLite: a column a name: a type declares an attribute once";
    VALUE_TYPE_NAME "value_type_name" Error SHOWN, "OCEL 2.0 XSD, enumeration: a value's type is string, time, integer, float or boolean";
    OTHER_VALUE_TYPE_NAME "other_value_type_name" Warning SHOWN, "OCEL 2.0: `date`, `int`, `bool` and the like are words of other tools, which readers understand";
    NO_VALUE_TYPE "no_value_type" Warning SHOWN, "OCEL 2.0 XSD: a declared attribute can be without type; readers take it for a string";
    SHARED_ATTRIBUTE_NAME "shared_attribute_name" Note 1, "OCEL 2.0 XSD, `objectAttributeRef`, `eventAttributeRef`: taken at its word, no two types may have an attribute of the same name. Known deviation: the standard's text has no such rule, and every tool's files break it";
    DUPLICATE_EVENT_ID "duplicate_event_id" Error SHOWN, "OCEL 2.0 XSD, `eventKey`; SQLite: primary key of `event`: ids of events are unique";
    DUPLICATE_OBJECT_ID "duplicate_object_id" Error SHOWN, "OCEL 2.0 XSD, `objectKey`; SQLite: primary key of `object`: ids of objects are unique";
    EMPTY_NAME "empty_name" Warning SHOWN, "OCEL 2.0: an id or a name is a text by which something can be named; an empty one is allowed by the schemas and lost by readers";
    UNDECLARED_TYPE "undeclared_type" Error SHOWN, "OCEL 2.0 XSD, `objectTypeRef`, `eventTypeRef`; SQLite: foreign key to the map of types: the type of an object or event is declared";
    UNDECLARED_ATTRIBUTE "undeclared_attribute" Error SHOWN, "OCEL 2.0 XSD, `objectAttributeRef`, `eventAttributeRef`; SQLite: a column a name: the type declares each attribute of its instances";
    REPEATED_ATTRIBUTE "repeated_attribute" Error SHOWN, "OCEL 2.0; SQLite: one cell: an event has one value of an attribute, an object one at a time";
    DANGLING_RELATION "dangling_relation" Error SHOWN, "OCEL 2.0 XSD, `objectObjectRef`, `eventObjectRef`; SQLite: foreign key to `object`: a relation leads to an object that the file has";
    REPEATED_RELATION "repeated_relation" Error SHOWN, "SQLite: primary key of `event_object`, `object_object`: an object is related with the same qualifier once";
    INCOMPLETE_RELATION "incomplete_relation" Error SHOWN, "SQLite: primary key of `event_object`, `object_object`: a relation has an object and a qualifier (the XSD lets them be missing, the JSON schema does not: `missing`)";
    VALUE_NOT_STRING "value_not_string" Note 1, "OCEL 2.0 JSON schema: an attribute's value is a JSON string. Known deviation: tools write numbers and booleans as such, and PM4Py reads strings as text only";
    VALUE "value" Error SHOWN, "OCEL 2.0: a value is of its declared type. XES XSD: xs:dateTime, xs:long, xs:double, xs:boolean";
    VALUE_FORM "value_form" Warning SHOWN, "OCEL 2.0, XES: the value can be read, and is not in the form of its type: `True`, `1` for true, `nan`, a number declared as a string";
    TIME "time" Error SHOWN, "OCEL 2.0 JSON schema, `format: date-time`: RFC 3339, with its zone. XSD: xs:dateTime";
    TIME_RANGE "time_range" Warning SHOWN, "Times before 1677-09-21 and after 2262-04-11 do not fit into 64 bits of nanoseconds, which readers use";
    NO_ZONE "no_zone" Warning SHOWN, "xs:dateTime can be without a zone: ProM has refused such logs, other programs assume a zone; write Z or an offset";
    NO_ATTRIBUTE_TIME "no_attribute_time" Warning SHOWN, "OCEL 2.0: the value of an object's attribute has a time, 1970-01-01T00:00:00Z if it holds from the beginning (the XSD lets it be missing)";
    RELATIONSHIP_ELEMENT "relationship_element" Note 1, "OCEL 2.0 XSD: a relation is an element `object` with a required `type`. Known deviation: the standard's example and all tools write `relationship` without one";
    // XES.
    XES_NAMESPACE "xes_namespace" Note SHOWN, "XES XSD: no target namespace. Known deviation: OpenXES, PM4Py and process_mining write `xmlns=\"http://www.xes-standard.org/\"`, and no reader minds";
    XES_VERSION "xes_version" Error SHOWN, "XES XSD: xes.version is an xs:decimal: 1849.2016";
    XES_VERSION_DASH "xes_version_dash" Note SHOWN, "XES XSD: xes.version is an xs:decimal. Known deviation: PM4Py writes 1849-2016, the standard's number";
    OPENXES_VERSION "openxes_version" Note SHOWN, "XES XSD: `log` has no attribute openxes.version, which OpenXES writes";
    NAME_FORM "name_form" Error SHOWN, "XES XSD: prefixes and scopes are xs:NCName: a letter or underscore, then letters, digits, `.`, `-`, `_`; no spaces";
    SPOKEN_NAME "spoken_name" Note SHOWN, "XES XSD: names of extensions and classifiers are xs:NCName, without spaces. Known deviation: OpenXES itself writes classifiers called `Event Name` and `MXML Legacy Classifier`, and no reader minds";
    KEY_FORM "key_form" Warning SHOWN, "XES XSD: a key is an xs:Name, without spaces; keys of others' logs often are not, and readers take them as they are";
    EMPTY_KEY "empty_key" Error SHOWN, "XES XSD: a key is an xs:Name, not empty";
    URI_FORM "uri_form" Error SHOWN, "XES XSD: uri is an xs:anyURI";
    LIST_VALUES_KEY "list_values_key" Note 1, "XES XSD draft: `values` of a list has a key. Known deviation: the final schema dropped it, and no tool writes it";
    CONTAINER "container" Warning SHOWN, "XES XSD: there is no `container`, which OpenXES introduced; other readers drop it";
    SCOPE "scope" Warning SHOWN, "XES: the scope of a global or a classifier is trace or event";
    DUPLICATE_EXTENSION "duplicate_extension" Warning SHOWN, "XES: an extension and its prefix are declared once";
    DUPLICATE_GLOBAL "duplicate_global" Warning SHOWN, "XES: one `global` a scope, one default a key";
    DUPLICATE_CLASSIFIER "duplicate_classifier" Warning SHOWN, "XES: names of classifiers of one scope are unique";
    EXTENSION_URI "extension_uri" Warning SHOWN, "XES: the prefixes of the standard extensions belong to their URIs, `http://www.xes-standard.org/….xesext`";
    UNDECLARED_PREFIX "undeclared_prefix" Warning SHOWN, "XES: the prefix of a key belongs to an extension that the log declares (shown once a prefix)";
    EXTENSION_KEY "extension_key" Warning SHOWN, "XES: a key with a standard extension's prefix is one that the extension defines (shown once a key)";
    EXTENSION_KEY_TYPE "extension_key_type" Error SHOWN, "XES: the keys of the standard extensions have the types that the extensions define: concept:name string, time:timestamp date, …";
    EXTENSION_KEY_LEVEL "extension_key_level" Warning SHOWN, "XES: the keys of the standard extensions are used where the extensions define them: log, trace, event or attribute (shown once a key and place)";
    TRANSITION "transition" Warning SHOWN, "XES lifecycle extension: with lifecycle:model `standard` a transition is one of its 13: schedule, assign, …, unknown";
    NO_GLOBALS "no_globals" Warning SHOWN, "XES: `global` declares the attributes of every trace and every event; ProM has refused logs without it";
    MISSING_GLOBAL "missing_global" Error SHOWN, "XES: every trace and every event has the global attributes of its scope, of the same type";
    CLASSIFIER_KEYS "classifier_keys" Warning SHOWN, "XES: the keys of a classifier are global attributes of its scope, so that every event has a class";
    DUPLICATE_KEY "duplicate_key" Error SHOWN, "XES: keys within an element are unique, except in lists";
    ID_FORM "id_form" Warning SHOWN, "XES: the value of an `id` is a UUID (the schema takes any string)";
    LOG_EVENT "log_event" Note SHOWN, "XES XSD: an event outside of traces is allowed after them; many readers drop it";
    UNNAMED_TRACE "unnamed_trace" Warning SHOWN, "XES allows a trace without concept:name; tools need it as the case's id";
    UNNAMED_EVENT "unnamed_event" Warning SHOWN, "XES allows an event without concept:name; tools need it as the activity";
    UNTIMED_EVENT "untimed_event" Warning SHOWN, "XES allows an event without time:timestamp; tools need it";
    EVENT_ORDER "event_order" Note SHOWN, "XES: the order of a trace's events is that of the file; here their times have another order";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_unique() {
        let mut words: Vec<_> = RULES.iter().map(|rule| rule.word).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), RULES.len());
        assert!(words.iter().all(|word| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')));
    }
}
