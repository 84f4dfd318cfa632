//! Histograms of values by powers of two. Few of the classes are ever used, so only those are kept.

use std::fmt::Write;

/// Counts by the power of two that a value does not exceed, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Histogram(Vec<(u8, u64)>);

impl Histogram {
    /// Counts a value; negative ones count as 0.
    pub fn add(&mut self, value: i64) {
        // 0 is apart; 1 has the exponent 0, 2 has 1, 3 and 4 have 2.
        let bucket = match u64::try_from(value) {
            Ok(0) | Err(_) => 0,
            Ok(value) => 1 + (u64::BITS - (value - 1).leading_zeros()) as u8,
        };
        self.add_to(bucket, 1);
    }

    fn add_to(&mut self, bucket: u8, count: u64) {
        match self.0.iter().position(|(known, _)| *known >= bucket) {
            Some(at) if self.0[at].0 == bucket => self.0[at].1 += count,
            Some(at) => self.0.insert(at, (bucket, count)),
            None => self.0.push((bucket, count)),
        }
    }

    /// Adds the counts of another histogram.
    pub fn add_all(&mut self, other: &Histogram) {
        other.0.iter().for_each(|(bucket, count)| self.add_to(*bucket, *count));
    }

    /// As a JSON object from the power of two to the count; `None` when nothing was counted.
    pub fn json(&self) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        let mut text = String::from("{");
        for (bucket, count) in &self.0 {
            let comma = if text.len() > 1 { "," } else { "" };
            let value = bucket.checked_sub(1).map_or(0u128, |exponent| 1 << exponent);
            let _ = write!(text, "{comma}\"{value}\":{count}");
        }
        text.push('}');
        Some(text)
    }

    /// As pairs of class and count, as partial results have them; `None` when nothing was counted.
    pub(crate) fn text(&self) -> Option<String> {
        let pairs: Vec<String> = self.0.iter().map(|(bucket, count)| format!("{bucket}:{count}")).collect();
        (!pairs.is_empty()).then(|| pairs.join(" "))
    }

    /// Undoes [`Histogram::text`]; `None` if it is none.
    pub(crate) fn of_text(text: Option<&str>) -> Option<Self> {
        let pair = |pair: &str| {
            let (bucket, count) = pair.split_once(':')?;
            Some((bucket.parse().ok()?, count.parse().ok()?))
        };
        let pairs: Vec<(u8, u64)> = text.map_or(Some(Vec::new()), |text| text.split(' ').map(pair).collect())?;
        pairs.windows(2).all(|pair| pair[0].0 < pair[1].0).then_some(Self(pairs))
    }

    pub(crate) fn put(&self, bytes: &mut Vec<u8>) {
        bytes.push(self.0.len() as u8);
        for (bucket, count) in &self.0 {
            bytes.push(*bucket);
            crate::bytes::put_unsigned(*count, bytes);
        }
    }

    pub(crate) fn take(bytes: &mut &[u8]) -> Option<Self> {
        let length = crate::bytes::take_byte(bytes)?;
        (0..length).map(|_| Some((crate::bytes::take_byte(bytes)?, crate::bytes::take_unsigned(bytes)?))).collect::<Option<_>>().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two() {
        let mut histogram = Histogram::default();
        [4096, 0, 1, 2, 3, 4, 4097, 4096, -1, i64::MAX].into_iter().for_each(|value| histogram.add(value));
        assert_eq!(histogram.json().unwrap(), r#"{"0":2,"1":1,"2":1,"4":2,"4096":2,"8192":1,"9223372036854775808":1}"#);
        let mut twice = histogram.clone();
        twice.add_all(&histogram);
        assert!(twice.json().unwrap().contains("\"4096\":4,"));
        let mut bytes = Vec::new();
        histogram.put(&mut bytes);
        assert_eq!(Histogram::take(&mut bytes.as_slice()), Some(histogram.clone()));
        assert_eq!(Histogram::of_text(histogram.text().as_deref()), Some(histogram));
        assert_eq!(Histogram::of_text(Histogram::default().text().as_deref()), Some(Histogram::default()));
        assert_eq!((Histogram::of_text(Some("3")), Histogram::of_text(Some("3:1 2:1"))), (None, None));
        assert_eq!(Histogram::default().json(), None);
    }
}
