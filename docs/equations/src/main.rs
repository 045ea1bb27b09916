//! A preprocessor of the book: equations between lines of `$$`, in LaTeX, become MathML, which browsers draw without any script.
//! `\tag{n}` at the end numbers an equation.

use pulldown_latex::config::{DisplayMode, RenderConfig};
use pulldown_latex::{Parser, Storage, push_mathml};
use serde_json::Value;
use std::io::Read;
use std::process::ExitCode;

fn main() -> ExitCode {
    // mdBook asks whether we serve a renderer: any but none of LaTeX.
    if std::env::args().nth(1).is_some_and(|argument| argument == "supports") {
        return ExitCode::SUCCESS;
    }
    match book() {
        Ok(book) => {
            println!("{book}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("equations: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The book that mdBook gives us after its context, with its equations drawn.
fn book() -> Result<Value, String> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|e| e.to_string())?;
    let mut both: Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    let mut book = both.get_mut(1).map(Value::take).ok_or("mdBook gave no book")?;
    visit(&mut book)?;
    Ok(book)
}

/// Draws the equations of all chapters in a part of the book.
fn visit(part: &mut Value) -> Result<(), String> {
    match part {
        Value::Array(parts) => parts.iter_mut().try_for_each(visit),
        Value::Object(fields) => {
            if let Some(Value::String(content)) = fields.get_mut("content") {
                *content = chapter(content)?;
            }
            fields.values_mut().try_for_each(visit)
        }
        _ => Ok(()),
    }
}

/// A chapter with MathML where lines of `$$` enclose LaTeX; code is left alone.
fn chapter(text: &str) -> Result<String, String> {
    let (mut out, mut code, mut latex) = (String::new(), false, None::<String>);
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            code = !code;
        }
        match &mut latex {
            None if line.trim() == "$$" && !code => latex = Some(String::new()),
            None => out.extend([line, "\n"]),
            Some(lines) if line.trim() == "$$" => {
                out += &equation(lines)?;
                latex = None;
            }
            Some(lines) => lines.extend([line, "\n"]),
        }
    }
    if latex.is_some() {
        return Err("an equation has no end: a line of $$ is missing".into());
    }
    Ok(out)
}

/// One equation, with its number beside it.
fn equation(latex: &str) -> Result<String, String> {
    let (latex, number) = match latex.split_once("\\tag{") {
        Some((before, after)) => (before, after.split('}').next()),
        None => (latex, None),
    };
    let storage = Storage::new();
    let events: Vec<_> = Parser::new(latex, &storage).collect();
    if let Some(error) = events.iter().find_map(|event| event.as_ref().err()) {
        return Err(format!("{error}\nin {latex}"));
    }
    let mut math = String::new();
    let config = RenderConfig { display_mode: DisplayMode::Block, ..RenderConfig::default() };
    push_mathml(&mut math, events.into_iter(), config).map_err(|e| e.to_string())?;
    let number = number.map_or(String::new(), |n| format!("<a id=\"equation-{n}\" href=\"#equation-{n}\">({n})</a>"));
    // No line may be empty: it would end the HTML.
    Ok(format!("<div class=\"equation\">{}{number}</div>\n", math.replace('\n', " ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations_become_mathml_and_code_stays() {
        let text = "a\n$$\n\\nabla\\cdot\\mathbf u = 0 \\tag{2}\n$$\nb\n```\n$$\n```\n";
        let out = chapter(text).unwrap();
        assert!(out.contains("<math") && out.contains("id=\"equation-2\"") && out.contains("(2)"), "{out}");
        assert!(out.starts_with("a\n<div") && out.ends_with("b\n```\n$$\n```\n"), "{out}");
    }

    #[test]
    fn what_is_wrong_is_an_error() {
        assert!(chapter("$$\nx\n").unwrap_err().contains("no end"));
        assert!(chapter("$$\n\\frac{a}\\nonsense{\n$$\n").is_err());
    }

    #[test]
    fn chapters_are_found_at_any_depth() {
        let mut book = serde_json::json!({"items": [{"Chapter": {"content": "$$\nx\n$$\n", "sub_items": [{"Chapter": {"content": "$$\ny\n$$\n"}}]}}]});
        visit(&mut book).unwrap();
        assert_eq!(book.to_string().matches("<math").count(), 2);
    }
}
