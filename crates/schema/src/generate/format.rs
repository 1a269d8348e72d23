//! Strings of the formats that a server enforces.

use super::random::Random;

/// A string of the format, of about this length if the format has none. It must still be tested. `None` if the format
/// is not known here.
pub(crate) fn sample(format: &str, random: &mut Random, length: usize) -> Option<String> {
    let name = format.replace('-', "");
    Some(match name.as_str() {
        "bsonobjectid" => hex(random, 24),
        "uri" => uri(random),
        "email" => format!("{}@{}", word(random), host(random)),
        "hostname" => host(random),
        "ipv4" => ipv4(random),
        "ipv6" => ipv6(random),
        "cidr" => cidr(random),
        "mac" => join(random, 6, ":", |random| hex(random, 2)),
        "uuid" | "uuid4" => uuid(random, '4'),
        "uuid3" => uuid(random, '3'),
        "uuid5" => uuid(random, '5'),
        "isbn" | "isbn10" => isbn10(random),
        "isbn13" => isbn13(random),
        "creditcard" => credit_card(random),
        "ssn" => format!("{}-{}-{}", digits(random, 3), digits(random, 2), digits(random, 4)),
        "hexcolor" => format!("#{}", hex(random, 6)),
        "rgbcolor" => format!("rgb({},{},{})", random.below(256), random.below(256), random.below(256)),
        "byte" => base64(random, length),
        "date" => date(random),
        "duration" => duration(random),
        "datetime" => date_time(random),
        "password" | "k8sshortname" => word(random),
        "k8slongname" => format!("{}.{}", word(random), word(random)),
        _ => return None,
    })
}

const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz";

/// A short word of lower-case letters and digits that starts with a letter.
pub(crate) fn word(random: &mut Random) -> String {
    let length = random.length(1, 8);
    let mut bits = random.next();
    let mut word = String::with_capacity(length);
    for at in 0..length {
        let choice = usize::try_from(bits & 0x3f).unwrap_or_default();
        bits >>= 6;
        let letter = LETTERS[choice % LETTERS.len()];
        // About every eighth character is a digit.
        let is_digit = at > 0 && choice >= 56;
        word.push(char::from(if is_digit { b'0' + (letter - b'a') % 10 } else { letter }));
    }
    word
}

fn hex(random: &mut Random, count: usize) -> String {
    (0..count).map(|_| char::from(b"0123456789abcdef"[random.index(16)])).collect()
}

fn digits(random: &mut Random, count: usize) -> String {
    (0..count).map(|_| char::from(b"0123456789"[random.index(10)])).collect()
}

fn join(random: &mut Random, count: usize, by: &str, mut part: impl FnMut(&mut Random) -> String) -> String {
    (0..count).map(|_| part(random)).collect::<Vec<_>>().join(by)
}

pub(crate) fn uri(random: &mut Random) -> String {
    match random.below(3) {
        0 => format!("https://{}", host(random)),
        1 => format!("http://{}:{}/{}", host(random), random.between(1, 65535), word(random)),
        _ => format!("https://{}/{}?{}=1", host(random), word(random), word(random)),
    }
}

fn host(random: &mut Random) -> String {
    format!("{}.example.com", word(random))
}

pub(crate) fn ipv4(random: &mut Random) -> String {
    join(random, 4, ".", |random| random.between(1, 254).to_string())
}

pub(crate) fn ipv6(random: &mut Random) -> String {
    format!("2001:db8::{:x}:{:x}", random.between(1, 65535), random.between(1, 65535))
}

pub(crate) fn cidr(random: &mut Random) -> String {
    if random.chance(1, 3) {
        return format!("2001:db8:{:x}::/{}", random.between(1, 65535), random.between(48, 64));
    }
    format!("10.{}.{}.0/24", random.below(256), random.below(256))
}

fn uuid(random: &mut Random, version: char) -> String {
    let digits = hex(random, 30);
    let (front, back) = (&digits[..12], &digits[12..]);
    format!("{}-{}-{version}{}-a{}-{}", &front[..8], &front[8..], &back[..3], &back[3..6], &back[6..])
}

fn isbn10(random: &mut Random) -> String {
    let front = digits(random, 9);
    let sum: u32 = (1..).zip(front.bytes()).map(|(weight, digit)| weight * u32::from(digit - b'0')).sum();
    let check = if sum % 11 == 10 { "X".to_owned() } else { (sum % 11).to_string() };
    front + &check
}

fn isbn13(random: &mut Random) -> String {
    let front = format!("978{}", digits(random, 9));
    let weights = [1, 3].into_iter().cycle();
    let sum: u32 = weights.zip(front.bytes()).map(|(weight, digit)| weight * u32::from(digit - b'0')).sum();
    format!("{front}{}", (10 - sum % 10) % 10)
}

fn credit_card(random: &mut Random) -> String {
    let front = format!("4{}", digits(random, 14));
    let sum: u32 = front
        .bytes()
        .rev()
        .enumerate()
        .map(|(index, byte)| {
            let digit = u32::from(byte - b'0');
            let doubled = if index % 2 == 0 { digit * 2 } else { digit };
            if doubled > 9 { doubled - 9 } else { doubled }
        })
        .sum();
    format!("{front}{}", (10 - sum % 10) % 10)
}

fn base64(random: &mut Random, length: usize) -> String {
    // Without the two characters that differ between the alphabets of rules and of the format.
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789AB";
    let length = 4 * length.div_ceil(4).max(1);
    (0..length).map(|_| char::from(ALPHABET[random.index(64)])).collect()
}

fn date(random: &mut Random) -> String {
    format!("{}-{:02}-{:02}", random.between(1970, 2099), random.between(1, 12), random.between(1, 28))
}

pub(crate) fn date_time(random: &mut Random) -> String {
    let day = date(random);
    format!("{day}T{:02}:{:02}:{:02}Z", random.below(24), random.below(60), random.below(60))
}

pub(crate) fn duration(random: &mut Random) -> String {
    let unit = ["s", "m", "h", "ms"][random.index(4)];
    format!("{}{unit}", random.between(1, 60))
}

/// A quantity in a usual notation.
pub(crate) fn quantity(random: &mut Random) -> String {
    let suffix = ["", "m", "Ki", "Mi", "Gi", "k", "M", "G"][random.index(8)];
    match random.below(4) {
        0 => format!("{}.{}", random.between(1, 99), random.between(1, 9)),
        _ => format!("{}{suffix}", random.between(1, 2000)),
    }
}
