/**
 * What makes a spreadsheet run a cell: the first characters of a formula, as plain and as full-width forms, and white space
 * that some of them skip to look at what follows.
 */
const runs = /^[=+\-@\t\r\n＝＋－＠]/u

/** What a spreadsheet would take for a number, a date, a time or a truth value. */
const converts = /^(?=.*\d)[\s\d.,:/%$€£¥()eE+-]+$|^(true|false)$/iu

/**
 * A text as a cell of a CSV file that stays a text: an apostrophe goes before one that a spreadsheet would run as a formula or
 * turn into something else. NUL, which no cell can hold and behind which a formula could hide, is left out.
 */
export function textCell(text: string): string {
  const visible = text.replaceAll('\0', '')
  return runs.test(visible) || converts.test(visible) ? `'${visible}` : visible
}
