//! Names of months as Java writes them in various languages: `Dec`, `oct.`, `de nov.`, `10月`.

/// Prefixes of the abbreviated names in Java's locales (CLDR and the older JRE data), in lower case
/// and without the dot. A name that means different months in two languages (`lis`) is left out.
const NAMES: [&[&str]; 12] = [
    &["jan", "janv", "januar", "ene", "gen", "sty", "led", "tammi", "янв", "oca", "січ", "ιαν"],
    &["feb", "fév", "fev", "febr", "lut", "úno", "helmi", "фев", "şub", "лют", "φεβ"],
    &["mar", "mär", "mrz", "mrt", "márc", "març", "bře", "maalis", "бер", "μαρ"],
    &["apr", "avr", "abr", "ápr", "kwi", "dub", "huhti", "апр", "nis", "квіт", "απρ"],
    &["may", "mai", "maj", "mei", "maig", "mag", "máj", "kvě", "touko", "ма", "трав", "μαΐ", "μαϊ"],
    &["jun", "juin", "giu", "jún", "cze", "čvn", "kesä", "июн", "haz", "черв", "ιουν"],
    &["jul", "juil", "lug", "júl", "lip", "čvc", "heinä", "июл", "tem", "ιουλ"],
    &["aug", "aoû", "ago", "ag", "sie", "srp", "elo", "авг", "ağu", "серп", "αυγ"],
    &["sep", "sept", "set", "szept", "wrz", "zář", "syys", "сен", "eyl", "вер", "σεπ"],
    &["oct", "okt", "ott", "out", "paź", "říj", "loka", "окт", "eki", "жовт", "οκτ"],
    &["nov", "marras", "ноя", "kas", "νοε"],
    &["dec", "dez", "déc", "dic", "des", "gru", "pro", "joulu", "дек", "ara", "груд", "δεκ"],
];

/// Returns the month, from 1, for a localised name.
pub fn month(name: &str) -> Option<u32> {
    let lower = name.trim().trim_end_matches('.').to_lowercase();
    let bare = ["de ", "d’", "d'"].iter().find_map(|article| lower.strip_prefix(article)).unwrap_or(&lower).trim();
    let number: String = bare.chars().take_while(char::is_ascii_digit).collect();
    if !number.is_empty() {
        return number.parse().ok().filter(|month| (1..=12).contains(month));
    }
    // Russian March and May share their prefix, and "ма" alone is ambiguous.
    if bare.starts_with("мар") {
        return Some(3);
    }
    let longest = |names: &&[&str]| names.iter().filter(|known| bare.starts_with(**known)).map(|known| known.len()).max();
    let (at, _) = NAMES.iter().enumerate().filter_map(|(at, names)| Some((at, longest(names)?))).max_by_key(|(_, length)| *length)?;
    Some(at as u32 + 1)
}

#[cfg(test)]
mod tests {
    use super::month;

    #[test]
    fn languages() {
        let rows: [&[&str]; 12] = [
            &["Jan", "janv.", "ene.", "Jan.", "gen", "de gen.", "tammik.", "янв.", "1月", "1월", "sty", "Oca"],
            &["Feb", "févr.", "feb.", "fev.", "de febr.", "úno", "helmik.", "февр.", "2月", "lut", "Şub"],
            &["Mar", "mars", "März", "mrt.", "de març", "bře", "márc.", "мар.", "марта", "3月"],
            &["Apr", "avr.", "abr.", "d’abr.", "ápr.", "kwi", "dub", "апр.", "4月", "Nis"],
            &["May", "mai", "mei", "maj", "mag", "de maig", "máj.", "мая", "май", "5月"],
            &["Jun", "juin", "giu", "de juny", "jún.", "cze", "июн.", "6月", "Haz", "Juni"],
            &["Jul", "juil.", "lug", "de jul.", "júl.", "lip", "июл.", "7月", "Tem", "Juli"],
            &["Aug", "août", "ago.", "d’ag.", "sie", "srp", "авг.", "8月", "Ağu"],
            &["Sep", "sept.", "set.", "szept.", "wrz", "zář", "сент.", "9月", "Eyl", "de set."],
            &["Oct", "oct.", "Oct.", "Okt.", "ott", "out.", "d’oct.", "paź", "říj", "окт.", "10月", "Eki"],
            &["Nov", "nov.", "de nov.", "Nov.", "ноя.", "нояб.", "11月", "Kas", "marrask."],
            &["Dec", "déc.", "dic.", "dez.", "des.", "de des.", "gru", "pro", "дек.", "12月", "Ara", "jouluk."],
        ];
        for (at, names) in rows.iter().enumerate() {
            for name in *names {
                assert_eq!(month(name), Some(at as u32 + 1), "{name}");
            }
        }
        for none in ["", "lis", "x", "13月", "0月", "de ", "Foo"] {
            assert_eq!(month(none), None, "{none}");
        }
    }
}
