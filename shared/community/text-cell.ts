/**
 * What makes a spreadsheet run a cell: the first characters of a formula, as plain and as full-width forms, and white space
 * that some of them skip to look at what follows.
 */
const runs = /^[=+\-@\t\r\n＝＋－＠]/u

const months =
  'jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sep(t(ember)?)?|oct(ober)?|nov(ember)?|dec(ember)?'

/** What a spreadsheet would take for a number, a date, a time or a truth value: `1e5`, `2026-01-02`, `5 pm`, `MARCH1`. */
const converts = new RegExp(`^(?=.*\\d)([\\s\\d.,:/%$€£¥()e+-]|[ap]m?$|${months})+$|^(true|false)$`, 'iu')

/**
 * A text as a cell of a CSV file that stays a text: an apostrophe goes before one that a spreadsheet would run as a formula or
 * turn into something else. NUL, which no cell can hold and behind which a formula could hide, is left out.
 */
export function textCell(text: string): string {
  const visible = text.replaceAll('\0', '')
  return runs.test(visible) || converts.test(visible) ? `'${visible}` : visible
}
