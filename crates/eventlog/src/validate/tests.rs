//! For each rule the smallest change of a good file that breaks it, with the place that is named.

use std::collections::BTreeSet;
use std::io::Write;

use super::*;
use crate::read::Severity;

const XES: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<log xes.version="1849.2016" xes.features="nested-attributes">
<extension name="Concept" prefix="concept" uri="http://www.xes-standard.org/concept.xesext"/>
<extension name="Time" prefix="time" uri="http://www.xes-standard.org/time.xesext"/>
<extension name="Lifecycle" prefix="lifecycle" uri="http://www.xes-standard.org/lifecycle.xesext"/>
<global scope="trace"><string key="concept:name" value=""/></global>
<global scope="event">
 <string key="concept:name" value=""/>
</global>
<classifier name="Activity" scope="event" keys="concept:name"/>
<string key="lifecycle:model" value="standard"/>
<trace>
 <string key="concept:name" value="a"/>
 <event>
  <string key="concept:name" value="x &amp; y"/>
  <date key="time:timestamp" value="2024-01-01T10:00:00.123456+00:00"/>
  <string key="lifecycle:transition" value="complete"/>
  <int key="n" value="1"><string key="unit" value="kg"/></int>
  <float key="f" value="1.5e3"/>
  <boolean key="b" value="true"/>
  <id key="i" value="123e4567-e89b-12d3-a456-426614174000"/>
  <list key="l"><values key="v"><int key="q" value="-1"/><int key="q" value="+7"/></values></list>
 </event>
 <event>
  <string key="concept:name" value="y"/>
  <date key="time:timestamp" value="2024-01-01T11:00:00+00:00"/>
 </event>
</trace>
</log>
"#;

const OCEL_XML: &str = r#"<?xml version='1.0' encoding='UTF-8'?>
<log>
<object-types>
 <object-type name="T"><attributes><attribute name="size" type="float"/></attributes></object-type>
 <object-type name="U"><attributes/></object-type>
</object-types>
<event-types>
 <event-type name="A"><attributes>
  <attribute name="num" type="integer"/>
  <attribute name="at" type="time"/>
  <attribute name="ok" type="boolean"/>
 </attributes></event-type>
</event-types>
<objects>
 <object id="o1" type="T">
  <attributes>
   <attribute name="size" time="1970-01-01T00:00:00Z">1.0</attribute>
   <attribute name="size" time="2024-01-01T11:00:00+00:00">3.0</attribute>
  </attributes>
  <objects><object object-id="o2" qualifier="p" type="x"/></objects>
 </object>
 <object id="o2" type="U"/>
</objects>
<events>
 <event id="e1" type="A" time="2024-01-01T10:00:00.5Z">
  <attributes><attribute name="num">1</attribute><attribute name="at">2024-01-01T10:00:00Z</attribute></attributes>
  <objects>
   <object object-id="o1" qualifier="q" type="x"/>
   <object object-id="o2" qualifier="r" type="x"/>
  </objects>
 </event>
</events>
</log>
"#;

const OCEL_JSON: &str = r#"{
"eventTypes": [
 {"name": "A", "attributes": [{"name": "num", "type": "integer"}, {"name": "at", "type": "time"}, {"name": "ok", "type": "boolean"}]},
 {"name": "B", "attributes": []}
],
"objectTypes": [{"name": "T", "attributes": [{"name": "size", "type": "float"}]}, {"name": "U", "attributes": []}],
"events": [
 {"id": "e1", "type": "A", "time": "2024-01-01T10:00:00.123Z",
  "attributes": [{"name": "num", "value": "1"}, {"name": "at", "value": "2024-01-01T10:00:00+01:00"}],
  "relationships": [{"objectId": "o1", "qualifier": "q"}, {"objectId": "o2", "qualifier": "r"}]},
 {"id": "e2", "type": "B", "time": "2024-01-01T11:00:00Z"}
],
"objects": [
 {"id": "o1", "type": "T",
  "attributes": [{"name": "size", "value": "1.5", "time": "1970-01-01T00:00:00Z"}],
  "relationships": [{"objectId": "o2", "qualifier": "p"}]},
 {"id": "o2", "type": "U"}
]
}
"#;

fn findings(bytes: &[u8], limits: &Limits) -> (Result<(Format, Summary), LogError>, Vec<Finding>) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let mut found = Vec::new();
    let result = validate_with(file.path(), limits, &mut |finding| found.push(finding));
    (result, found)
}

fn check(text: &str) -> Vec<Finding> {
    let (result, found) = findings(text.as_bytes(), &Limits::default());
    let (_, summary) = result.unwrap();
    assert_eq!(summary.errors + summary.warnings + summary.notes, found.len() as u64);
    found
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

#[test]
fn good_files_have_no_findings() {
    for (text, format, counts) in [
        (XES, Format::Xes, (Some(2), None, Some(1))),
        (OCEL_XML, Format::OcelXml, (Some(1), Some(2), None)),
        (OCEL_JSON, Format::OcelJson, (Some(2), Some(2), None)),
    ] {
        for bytes in [text.as_bytes().to_vec(), gz(text.as_bytes()), [b"\xef\xbb\xbf", text.as_bytes()].concat()] {
            let (result, found) = findings(&bytes, &Limits::default());
            assert_eq!(found, []);
            let (is, summary) = result.unwrap();
            assert_eq!((is, (summary.events, summary.objects, summary.traces)), (format, counts));
        }
    }
}

/// A change to the valid file: the text that is replaced, its replacement, and the first finding
/// that results, with its line and column.
type Break = (&'static str, &'static str, &'static str, &'static str, u64, u64);

const BREAKS: &[Break] = &[
    // XML.
    (XES, "</trace>", "</tracer>", "not_xml", 28, 1),
    (XES, "<log x", "<!DOCTYPE log [<!ENTITY a 'b'>]><log x", "doctype", 2, 1),
    (XES, "UTF-8", "ISO-8859-1", "refused", 1, 31),
    (XES, "<trace>", "<trace/><foo/><trace>", "unnamed_trace", 12, 1),
    // XES: structure.
    (XES, " xes.version=\"1849.2016\"", "", "missing", 2, 1),
    (XES, " prefix=\"time\"", "", "missing", 4, 1),
    (XES, " value=\"1.5e3\"", "", "missing", 19, 3),
    (XES, "<values key=\"v\"><int key=\"q\" value=\"-1\"/><int key=\"q\" value=\"+7\"/></values>", "", "missing", 22, 3),
    (XES, "<classifier", "<foo/><classifier", "unknown_element", 10, 1),
    (XES, "\"kg\"/>", "\"kg\"/><event/>", "unknown_element", 18, 57),
    (XES, "<global scope=\"event\">", "<trace/><global scope=\"event\">", "no_globals", 2, 1),
    (XES, "<string key=\"lifecycle:model\" value=\"standard\"/>", "<string key=\"m\" value=\"\"/><global/>", "element_order", 11, 27),
    (XES, " </event>\n</trace>", " </event><int key=\"n\" value=\"1\"/>\n</trace>", "element_order", 27, 10),
    (XES, "</values>", "</values><values key=\"v\"/>", "repeated_element", 22, 92),
    (XES, "<trace>", "<trace id=\"1\">", "unknown_xml_attribute", 12, 8),
    (XES, "<trace>", "<trace>\n text", "unexpected_text", 13, 2),
    (XES, " xes.features=\"nested-attributes\"", " xmlns=\"urn:x\"", "namespace", 2, 30),
    (XES, " xes.features=\"nested-attributes\"", " xmlns=\"http://www.xes-standard.org/\"", "xes_namespace", 2, 30),
    (XES, " xes.features=\"nested-attributes\"", " openxes.version=\"1.0RC7\"", "openxes_version", 2, 30),
    (XES, "1849.2016", "2.0b", "xes_version", 2, 19),
    (XES, "1849.2016", "1849-2016", "xes_version_dash", 2, 19),
    (XES, "\"Activity\"", "\"MXML Legacy\"", "spoken_name", 10, 19),
    (XES, "prefix=\"concept\"", "prefix=\"con cept\"", "name_form", 3, 35),
    (XES, "\"n\"", "\"a b\"", "key_form", 18, 13),
    (XES, "\"n\"", "\"\"", "empty_key", 18, 13),
    (XES, "http://www.xes-standard.org/concept.xesext", "%", "uri_form", 3, 49),
    (XES, "<values key=\"v\">", "<values>", "list_values_key", 22, 17),
    (XES, "<float key=\"f\" value=\"1.5e3\"/>", "<container key=\"c\"/>", "container", 19, 3),
    (XES, "scope=\"event\" keys", "scope=\"log\" keys", "scope", 10, 36),
    // XES: definitions.
    (
        XES,
        "\"lifecycle\" uri=\"http://www.xes-standard.org/lifecycle.xesext\"",
        "\"time\" uri=\"http://www.xes-standard.org/time.xesext\"",
        "duplicate_extension",
        5,
        37,
    ),
    (
        XES,
        "<global scope=\"trace\"><string",
        "<global><int key=\"n\" value=\"0\"/></global><global scope=\"trace\"><string",
        "duplicate_global",
        7,
        1,
    ),
    (XES, "<classifier", "<classifier name=\"Activity\" keys=\"concept:name\"/><classifier", "duplicate_classifier", 10, 68),
    (XES, "http://www.xes-standard.org/time.xesext", "http://x/time.xesext", "extension_uri", 4, 43),
    (XES, "\"n\"", "\"slurm:n\"", "undeclared_prefix", 18, 13),
    (XES, "\"n\"", "\"time:n\"", "extension_key", 18, 13),
    (
        XES,
        "<date key=\"time:timestamp\" value=\"2024-01-01T11:00:00+00:00\"/>",
        "<string key=\"time:timestamp\" value=\"\"/>",
        "extension_key_type",
        26,
        16,
    ),
    (
        XES,
        "<string key=\"concept:name\" value=\"a\"/>",
        "<string key=\"concept:name\" value=\"a\"/><string key=\"concept:instance\" value=\"\"/>",
        "extension_key_level",
        13,
        53,
    ),
    (XES, "\"complete\"", "\"COMPLETE\"", "transition", 17, 45),
    (XES, "<global scope=\"trace\"><string key=\"concept:name\" value=\"\"/></global>\n", "", "no_globals", 2, 1),
    (XES, "  <string key=\"concept:name\" value=\"y\"/>\n", "", "missing_global", 24, 2),
    (XES, "keys=\"concept:name\"", "keys=\"concept:name 'n'\"", "classifier_keys", 10, 49),
    (XES, "\"b\"", "\"f\"", "duplicate_key", 20, 3),
    (XES, "\"kg\"/>", "\"kg\"/><int key=\"unit\" value=\"1\"/>", "duplicate_key", 18, 57),
    // XES: values.
    (XES, "\"+7\"", "\"7.0\"", "value", 22, 78),
    (XES, "\"true\"", "\"True\"", "value", 20, 27),
    (XES, "\"1.5e3\"", "\"nan\"", "value", 19, 25),
    (XES, "T11:00:00+00:00", " 11:00:00", "value", 26, 37),
    (XES, "T11:00:00+00:00", "T11:00:00", "no_zone", 26, 37),
    (XES, "\"true\"", "\"1\"", "value_form", 20, 27),
    (XES, "2024-01-01T11", "9999-01-01T11", "time_range", 26, 37),
    (XES, "123e4567-e89b", "123e4567e89b", "id_form", 21, 22),
    // XES: what tools need.
    (XES, "</trace>\n", "</trace><event><string key=\"concept:name\" value=\"z\"/></event>", "log_event", 28, 9),
    (XES, " <string key=\"concept:name\" value=\"a\"/>\n", "", "missing_global", 12, 1),
    (XES, "  <date key=\"time:timestamp\" value=\"2024-01-01T11:00:00+00:00\"/>\n", "", "untimed_event", 24, 2),
    (XES, "T11:00", "T09:00", "event_order", 24, 2),
    // OCEL XML.
    (OCEL_XML, "name=\"T\"", "title=\"T\"", "missing", 4, 2),
    (OCEL_XML, "<attributes/>", "", "missing", 5, 2),
    (OCEL_XML, " id=\"o2\"", "", "missing", 22, 2),
    (OCEL_XML, " time=\"2024-01-01T10:00:00.5Z\"", "", "missing", 25, 2),
    (OCEL_XML, "<event-types>", "<objects/><event-types>", "element_order", 7, 11),
    (OCEL_XML, "</events>", "</events><events/>", "repeated_element", 32, 10),
    (OCEL_XML, "<attribute name=\"num\">1", "<attribute name=\"num\"><b/>1", "unknown_element", 26, 37),
    (OCEL_XML, "<log>", "<log version=\"2\">", "unknown_xml_attribute", 2, 6),
    (OCEL_XML, "<events>", "<events>text", "unexpected_text", 24, 9),
    (OCEL_XML, "<log>", "<log xmlns=\"http://www.ocel-standard.org/\">", "namespace", 2, 6),
    (OCEL_XML, "name=\"U\"", "name=\"T\"", "duplicate_type", 5, 21),
    (OCEL_XML, "\"at\" type", "\"num\" type", "duplicate_type_attribute", 10, 20),
    (OCEL_XML, "<attributes/>", "<attributes><attribute name=\"size\" type=\"float\"/></attributes>", "shared_attribute_name", 5, 53),
    (OCEL_XML, "\"integer\"", "\"int\"", "value_type_name", 9, 31),
    (OCEL_XML, " type=\"integer\"", "", "no_value_type", 9, 20),
    (OCEL_XML, "\"num\">1", "\"num\" type=\"number\">1", "value_type_name", 26, 43),
    (OCEL_XML, "<object id=\"o2\"", "<object id=\"o1\"", "duplicate_object_id", 22, 14),
    (
        OCEL_XML,
        "</events>",
        "<event id=\"e1\" type=\"A\" time=\"2024-01-01T10:00:00Z\"><attributes/><objects/></event></events>",
        "duplicate_event_id",
        32,
        12,
    ),
    (OCEL_XML, "type=\"U\"", "type=\"V\"", "undeclared_type", 22, 24),
    (OCEL_XML, "name=\"num\">", "name=\"nun\">", "undeclared_attribute", 26, 32),
    (OCEL_XML, "2024-01-01T11:00:00+00:00", "1970-01-01T00:00:00Z", "repeated_attribute", 18, 21),
    (OCEL_XML, "object-id=\"o2\" qualifier=\"r\"", "object-id=\"o1\" qualifier=\"q\"", "repeated_relation", 29, 23),
    (OCEL_XML, "object-id=\"o1\"", "object-id=\"o3\"", "dangling_relation", 28, 23),
    (OCEL_XML, "object-id=\"o2\" qualifier=\"p\"", "object-id=\"o3\" qualifier=\"p\"", "dangling_relation", 20, 31),
    (
        OCEL_XML,
        "<object object-id=\"o1\" qualifier=\"q\" type=\"x\"/>",
        "<relationship object-id=\"o1\" qualifier=\"q\"/>",
        "relationship_element",
        28,
        4,
    ),
    (OCEL_XML, " qualifier=\"r\"", "", "incomplete_relation", 29, 4),
    (OCEL_XML, ">1</attribute>", ">\n one</attribute>", "value", 27, 2),
    (OCEL_XML, ">1</attribute>", ">1.0</attribute>", "value_form", 26, 37),
    (OCEL_XML, "2024-01-01T10:00:00.5Z", "2024-01-01", "time", 25, 32),
    (OCEL_XML, "2024-01-01T10:00:00.5Z", "2024-01-01T10:00:00", "no_zone", 25, 32),
    (OCEL_XML, "2024-01-01T10:00:00.5Z", "1066-01-01T10:00:00Z", "time_range", 25, 32),
    (OCEL_XML, " time=\"1970-01-01T00:00:00Z\"", "", "no_attribute_time", 17, 4),
    // OCEL JSON.
    (OCEL_JSON, "\"eventTypes\": [", "\"eventTypes\": [,", "not_json", 2, 16),
    (OCEL_JSON, ",\n\"objectTypes\"", "\n\"objectTypes\"", "not_json", 6, 1),
    (OCEL_JSON, "\"id\": \"e1\", ", "", "missing", 8, 2),
    (OCEL_JSON, "\"objects\"", "\"objekts\"", "unknown_member", 13, 1),
    (OCEL_JSON, ", \"time\": \"1970-01-01T00:00:00Z\"", "", "missing", 15, 18),
    (OCEL_JSON, "\"e1\"", "1", "wrong_json_type", 8, 9),
    (OCEL_JSON, "\"1\"", "null", "wrong_json_type", 9, 43),
    (OCEL_JSON, "\"U\", \"attributes\": []}", "\"U\", \"attributes\": {}}, 1", "wrong_json_type", 6, 111),
    (OCEL_JSON, "\"id\": \"e2\"", "\"x\": {\"y\": [1]}, \"id\": \"e2\"", "unknown_member", 11, 3),
    (OCEL_JSON, "\"id\": \"e2\"", "\"id\": \"e3\", \"id\": \"e2\"", "repeated_member", 11, 15),
    (OCEL_JSON, "\"B\", \"a", "\"A\", \"a", "duplicate_type", 4, 11),
    (OCEL_JSON, "\"name\": \"at\", \"type\"", "\"name\": \"num\", \"type\"", "duplicate_type_attribute", 3, 76),
    (OCEL_JSON, "\"integer\"", "\"number\"", "value_type_name", 3, 55),
    (OCEL_JSON, "\"integer\"", "\"int\"", "other_value_type_name", 3, 55),
    (OCEL_JSON, "\"e2\"", "\"e1\"", "duplicate_event_id", 11, 9),
    (OCEL_JSON, "\"id\": \"o2\"", "\"id\": \"o1\"", "duplicate_object_id", 17, 9),
    (OCEL_JSON, "\"e2\"", "\"\"", "empty_name", 11, 9),
    (OCEL_JSON, "\"type\": \"B\"", "\"type\": \"C\"", "undeclared_type", 11, 23),
    (OCEL_JSON, "\"name\": \"num\", \"value\"", "\"name\": \"nun\", \"value\"", "undeclared_attribute", 9, 27),
    (OCEL_JSON, "\"value\": \"1\"}", "\"value\": \"1\"}, {\"name\": \"num\", \"value\": \"2\"}", "repeated_attribute", 9, 58),
    (OCEL_JSON, "\"o2\", \"qualifier\": \"r\"", "\"o1\", \"qualifier\": \"q\"", "repeated_relation", 10, 72),
    (OCEL_JSON, "\"o2\", \"qualifier\": \"p\"", "\"o3\", \"qualifier\": \"p\"", "dangling_relation", 16, 34),
    (OCEL_JSON, "\"o2\", \"qualifier\": \"r\"", "\"o3\", \"qualifier\": \"q\"", "dangling_relation", 10, 72),
    (OCEL_JSON, "\"1\"", "1", "value_not_string", 9, 43),
    (OCEL_JSON, "\"1\"", "\"one\"", "value", 9, 43),
    (OCEL_JSON, "\"1\"", "\"1.0\"", "value_form", 9, 43),
    (OCEL_JSON, "T11:00:00Z", " 11:00:00Z", "time", 11, 36),
    (OCEL_JSON, "T11:00:00Z", "T11:00:00", "time", 11, 36),
    (OCEL_JSON, "T00:00:00Z", "T00:00:00+0000", "time", 15, 59),
];

#[test]
fn each_rule_is_found_where_it_is_broken() {
    let mut covered = BTreeSet::new();
    let mut wrong = Vec::new();
    for &(good, from, to, rule, line, column) in BREAKS {
        assert!(good.contains(from), "{from}");
        let found = check(&good.replacen(from, to, 1));
        covered.extend(found.iter().map(|finding| finding.rule));
        let first = found.iter().find(|finding| finding.rule == rule);
        if first.is_none_or(|first| (first.line, first.column) != (Some(line), Some(column))) {
            wrong.push(format!("{from} → {to}: {rule} {line}:{column}, but {found:#?}"));
        }
        // One thing was broken; what comes of it is little.
        assert!(found.len() <= 7, "{from} → {to}: {found:#?}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let never: Vec<_> = RULES.iter().map(|rule| rule.word).filter(|word| !covered.contains(word)).collect();
    assert_eq!(never, Vec::<&str>::new());
}

#[test]
fn what_every_tool_writes_is_no_error() {
    let json = OCEL_JSON.replace("\"value\": \"1\"", "\"value\": 1").replace("\"1.5\"", "1.5");
    let xml = OCEL_XML.replace("<object object-id", "<relationship object-id").replace(" type=\"x\"", "");
    let xes = XES.replace("1849.2016\"", "1849-2016\" xmlns=\"http://www.xes-standard.org/\"").replace("<values key=\"v\">", "<values>");
    for (text, count) in [(json, 2), (xml, 2), (xes, 3)] {
        let found = check(&text);
        assert!(found.iter().all(|finding| finding.severity == Severity::Note), "{found:#?}");
        assert_eq!(found.len(), count, "{found:#?}");
    }
}

#[test]
fn the_order_of_a_json_file_does_not_matter() {
    let (head, records) = OCEL_JSON.split_once("\"events\"").unwrap();
    let (records, end) = records.rsplit_once('\n').unwrap().0.rsplit_once('\n').unwrap();
    assert_eq!(end, "}");
    let types = head.trim_start_matches('{').trim().trim_end_matches(',');
    let late = format!("{{\"events\"{records},\n{types}}}");
    assert_eq!(check(&late), []);
    let found = check(&late.replace("\"num\", \"value\"", "\"nun\", \"value\"").replace("{\"name\": \"U\"", "{\"name\": \"T\""));
    let rules: Vec<_> = found.iter().map(|finding| (finding.rule, finding.line)).collect();
    assert_eq!(rules, [("undeclared_attribute", Some(3)), ("undeclared_type", Some(11)), ("duplicate_type", Some(17))]);
}

#[test]
fn findings_name_the_record_and_the_id() {
    let found = check(&OCEL_JSON.replace("\"o2\", \"qualifier\": \"r\"", "\"gone\", \"qualifier\": \"r\"").replace("\"1\"", "\"one\""));
    assert_eq!(found[0].place, "event \"e1\": events[0].attributes[0].value");
    assert!(found[1].message.starts_with("there is no object \"gone\""), "{found:#?}");
    let found = check(&OCEL_XML.replace("object-id=\"o1\"", "object-id=\"gone\""));
    assert_eq!((found[0].place.as_str(), found[0].message.as_str()), ("event \"e1\": relationship 1", "there is no object \"gone\""));
    let found = check(&XES.replace("\"+7\"", "\"x\""));
    assert_eq!(found[0].place, "trace 1 \"a\", event 1: log/trace/event/list/values/int");
}

#[test]
fn many_of_the_same_are_counted() {
    let event = ",{\"id\": \"e\", \"type\": \"B\", \"time\": \"soon\"}";
    let found = check(&OCEL_JSON.replace("11:00:00Z\"}", &format!("11:00:00Z\"}}{}", event.repeat(250))));
    let of = |rule| found.iter().filter(|finding| finding.rule == rule).collect::<Vec<_>>();
    assert_eq!((of("time").len(), of("duplicate_event_id").len()), (101, 101));
    assert_eq!(of("time")[100].message, "150 more of the same; 100 shown, 250 in all");
}

#[test]
fn hostile_files_end_in_one_finding() {
    let limits = Limits { text_bytes: 1000, record_bytes: 3000, depth: 10, definitions: 5 };
    let whole = gz(XES.as_bytes());
    let bomb = "<!DOCTYPE log [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;\">]><log>&b;</log>";
    let deep_json = format!("{{\"x\": {}", "[".repeat(100_000));
    let deep_xml = XES.replace("<string key=\"unit\" value=\"kg\"/>", &"<string key=\"unit\" value=\"kg\">".repeat(100_000));
    let long_json = OCEL_JSON.replace("\"e1\"", &format!("\"{}\"", "e".repeat(5000)));
    let long_xml = XES.replace("\"kg\"", &format!("\"{}\"", "e".repeat(5000)));
    let long_text = OCEL_XML.replace(">1<", &format!(">{}<", "1<!-- -->".repeat(5000)));
    let wide_xml = XES.replace("<float key=\"f\" value=\"1.5e3\"/>", &"<float key=\"f\" value=\"1.5e3\"/>".repeat(500));
    let wide_json = OCEL_JSON.replace("{\"name\": \"num\", \"value\": \"1\"}", &"{\"name\": \"num\", \"value\": \"1\"},".repeat(500));
    let types =
        OCEL_JSON.replace("{\"name\": \"U\"", &(0..9).map(|n| format!("{{\"name\": \"{n}\", \"attributes\": []}},")).collect::<String>());
    let extensions = XES.replace("<global scope=\"trace\"", &"<extension name=\"x\" prefix=\"x\" uri=\"x\"/>".repeat(9));
    let utf16: Vec<u8> = XES.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let not_utf8 = [OCEL_JSON.split_once("e2").unwrap().0.as_bytes(), b"\xff"].concat();
    for (name, bytes, rule, line) in [
        ("bomb", bomb.as_bytes(), "doctype", 1),
        ("deep json", deep_json.as_bytes(), "refused", 1),
        ("deep xml", deep_xml.as_bytes(), "refused", 18),
        ("long json", long_json.as_bytes(), "refused", 8),
        ("long xml", long_xml.as_bytes(), "refused", 18),
        ("long text", long_text.as_bytes(), "refused", 26),
        ("wide xml", wide_xml.as_bytes(), "refused", 19),
        ("wide json", wide_json.as_bytes(), "refused", 8),
        ("types", types.as_bytes(), "refused", 6),
        ("extensions", extensions.as_bytes(), "refused", 6),
        ("utf-16", &utf16, "refused", 1),
        ("not utf-8", &not_utf8, "refused", 11),
        ("cut gz", &whole[..whole.len() - 9], "refused", 30),
        ("cut json", OCEL_JSON.split_once("e2").unwrap().0.as_bytes(), "not_json", 11),
        ("cut xml", XES.split_once("kg").unwrap().0.as_bytes(), "not_xml", 18),
    ] {
        let limits = if name == "cut gz" { &Limits::default() } else { &limits };
        let (result, found) = findings(bytes, limits);
        assert!(result.unwrap().1.errors > 0, "{name}");
        let last = found.last().unwrap();
        let errors = found.iter().filter(|finding| finding.severity == Severity::Error && finding.rule != "duplicate_key").count();
        assert_eq!((last.rule, errors), (rule, 1), "{name}: {found:#?}");
        assert!(last.line.is_some_and(|found| found == line || name == "cut gz"), "{name}: {last:#?}");
    }
}

#[test]
fn what_is_no_log_is_refused() {
    for text in ["", "case,activity\n1,a\n", "<html></html>", "  \u{1}"] {
        let (result, found) = findings(text.as_bytes(), &Limits::default());
        assert!(matches!(result, Err(LogError::Refused { .. })), "{text}: {result:?}");
        assert_eq!(found, []);
    }
    assert!(validate(Path::new("/dev/null"), &mut |_| {}).unwrap_err().to_string().contains("no regular file"));
    assert!(matches!(validate(Path::new("/nowhere/at/all"), &mut |_| {}), Err(LogError::Io(_))));
}

proptest::proptest! {
    /// Whatever is put into a good file, the check ends, and what it says has a place in the file.
    #[test]
    fn any_bytes_are_checked(which in 0..3_usize, at in 0..3000_usize, cut in 0..40_usize, bytes in r#"[<>&"'/=\[\]{}:,\\! a1é\x00-]{0,6}"#) {
        let mut text = [XES, OCEL_XML, OCEL_JSON][which].as_bytes().to_vec();
        let at = at.min(text.len());
        let end = (at + cut).min(text.len());
        text.splice(at..end, bytes.bytes());
        let (_, found) = findings(&text, &Limits { depth: 20, ..Limits::default() });
        let lines: Vec<_> = text.split(|&byte| byte == b'\n').collect();
        for finding in found.iter().filter(|finding| finding.line.is_some()) {
            let line = lines.get(finding.line.unwrap() as usize - 1).unwrap();
            proptest::prop_assert!((1..=line.len() as u64 + 1).contains(&finding.column.unwrap()), "{:?}", finding);
        }
    }
}
