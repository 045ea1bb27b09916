//! Words that can be copied into a shell.

/// A word that a shell takes for one and a program for no option, whatever a user has called a file.
#[must_use]
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:@%+,=".contains(c);
    if !word.is_empty() && !word.starts_with('-') && word.chars().all(plain) {
        return word.to_owned();
    }
    // What begins with a dash would be an option.
    let path = if word.starts_with('-') { format!("./{word}") } else { word.to_owned() };
    format!("'{}'", path.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_words() {
        assert_eq!(shell_word("out/dam-break"), "out/dam-break");
        assert_eq!(shell_word("it's my run"), r"'it'\''s my run'");
        assert_eq!(shell_word("-out"), "'./-out'");
        assert_eq!(shell_word("$(rm -r ~)"), "'$(rm -r ~)'");
        assert_eq!(shell_word(""), "''");
    }
}
