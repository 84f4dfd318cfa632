//! Checks of pictures in tests: whether they are XML, and whether all words are within.

use flowmine_draw::text::width;
use quick_xml::Reader;
use quick_xml::events::Event;

/// What a picture says, in its order; panics where it is not well-formed, too large, or where words
/// stand outside.
pub fn picture(svg: &str) -> Vec<String> {
    assert!(svg.len() < 2_000_000, "{} bytes", svg.len());
    let mut reader = Reader::from_str(svg);
    reader.config_mut().check_end_names = true;
    let (mut size, mut open, mut words, mut said) = ((0.0, 0.0), None, String::new(), Vec::new());
    let mut depth = 0;
    loop {
        match reader.read_event().expect("the picture is XML") {
            Event::Start(element) | Event::Empty(element) if element.name().as_ref() == "svg" => {
                depth += 1;
                let attribute = |name: &str| number(&element, name).expect("a picture has a size");
                size = (attribute("width"), attribute("height"));
            }
            Event::Start(element) => {
                depth += 1;
                if element.name().as_ref() == "text" {
                    let bold = element.try_get_attribute("font-weight").expect("attributes are right").is_some();
                    let text = |name: &str| {
                        let value = element.try_get_attribute(name).expect("attributes are right")?;
                        Some(value.value.into_owned())
                    };
                    let of = |name: &str| number(&element, name).expect("a text has a place");
                    open = Some((of("x"), of("y"), of("font-size"), bold, text("text-anchor"), text("transform")));
                    words.clear();
                }
            }
            Event::Text(text) if open.is_some() => words.push_str(&text),
            Event::GeneralRef(name) if open.is_some() => words.push(match &*name {
                "amp" => '&',
                "lt" => '<',
                "gt" => '>',
                "quot" => '"',
                "#39" => '\'',
                other => panic!("unknown reference {other}"),
            }),
            Event::End(_) => {
                depth -= 1;
                if let Some((x, y, font, bold, anchor, transform)) = open.take() {
                    let room = width(&words, font) * if bold { 1.14 } else { 1.0 };
                    let start = match anchor.as_deref() {
                        Some("middle") => x - room / 2.0,
                        Some("end") => x - room,
                        _ => x,
                    };
                    let corners: Vec<(f64, f64)> = match transform.as_deref().and_then(|t| t.strip_prefix("rotate(")) {
                        None => vec![(start, y), (start + room, y)],
                        Some(rest) => {
                            let degrees: f64 = rest.split(' ').next().and_then(|n| n.parse().ok()).expect("a turn has an angle");
                            let turn = |dx: f64| (x + dx * degrees.to_radians().cos(), y + dx * degrees.to_radians().sin());
                            vec![turn(start - x), turn(start - x + room)]
                        }
                    };
                    for (x, y) in corners {
                        assert!(
                            x >= -0.5 && x <= size.0 + 0.5 && y >= 0.0 && y <= size.1 + 0.5,
                            "{:?} at {x} {y} in {size:?}",
                            words.chars().take(80).collect::<String>()
                        );
                    }
                    said.push(words.clone());
                }
            }
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(depth, 0, "all elements are closed");
    said
}

fn number(element: &quick_xml::events::BytesStart<'_>, name: &str) -> Option<f64> {
    let value = element.try_get_attribute(name).ok()??;
    value.value.parse().ok()
}
