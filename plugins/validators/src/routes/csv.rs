//! CSV for spreadsheets. No cell is interpreted as a formula.

/// What begins a formula, also in full width, which spreadsheets read alike.
const FORMULA_STARTS: [char; 10] = ['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠'];

/// One line of quoted cells.
pub fn line(cells: &[String]) -> String {
    let quoted: Vec<String> = cells.iter().map(|cell| quote(cell)).collect();
    format!("{}\r\n", quoted.join(","))
}

fn quote(cell: &str) -> String {
    let guard = if cell.starts_with(FORMULA_STARTS) { "'" } else { "" };
    format!("\"{guard}{}\"", cell.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn full_width_does_not_help() {
        for cell in ["＝1+1", "＋1", "－1", "＠SUM(A1)"] {
            assert_eq!(line(&[cell.to_owned()]), format!("\"'{cell}\"\r\n"));
        }
    }

    #[test]
    fn no_cell_is_a_formula() {
        let cells = ["a", "", "say \"x\", y", "@ann", "=1+1", "-1", "+1"].map(str::to_owned);
        assert_eq!(line(&cells), "\"a\",\"\",\"say \"\"x\"\", y\",\"'@ann\",\"'=1+1\",\"'-1\",\"'+1\"\r\n");
    }
}
