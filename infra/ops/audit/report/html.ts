/** Text as it stands in HTML and SVG, whatever is in it. */
export const escapeHtml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')

/** A kid, an ARN or a hash: nothing to read aloud, and too long for a line. */
const isIdentifier = (text: string): boolean => /^\S{30,}$/.test(text)

/** A table, or a sentence where it would be empty; cells are text. Identifiers may break anywhere, words only between one another. */
export function htmlTable(caption: string, heads: string[], rows: string[][]): string {
  if (rows.length === 0) return `<p>${escapeHtml(caption)}: none.</p>`
  const head = heads.map((cell) => `<th scope="col">${escapeHtml(cell)}</th>`)
  const body = rows.map((row) => {
    const cells = row.map((cell) => `<td${isIdentifier(cell) ? ' class="id"' : ''}>${escapeHtml(cell)}</td>`)
    return `<tr>${cells.join('')}</tr>`
  })
  return `<table><caption>${escapeHtml(caption)}</caption><thead><tr>${head.join('')}</tr></thead><tbody>${body.join('')}</tbody></table>`
}
