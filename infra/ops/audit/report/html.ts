/** Escapes text for HTML and SVG. */
export const escapeHtml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')

/**
 * Whether a table cell is a long identifier (a kid, an ARN or a hash), in which a line may break anywhere.
 */
const isIdentifier = (text: string): boolean => /^\S{30,}$/.test(text)

/** Formats an HTML table of text cells, or a sentence if there are no rows. */
export function htmlTable(caption: string, headings: string[], rows: string[][]): string {
  if (rows.length === 0) return `<p>${escapeHtml(caption)}: none.</p>`
  const head = headings.map((cell) => `<th scope="col">${escapeHtml(cell)}</th>`)
  const body = rows.map((row) => {
    const cells = row.map((cell) => `<td${isIdentifier(cell) ? ' class="id"' : ''}>${escapeHtml(cell)}</td>`)
    return `<tr>${cells.join('')}</tr>`
  })
  return `<table><caption>${escapeHtml(caption)}</caption><thead><tr>${head.join('')}</tr></thead><tbody>${body.join('')}</tbody></table>`
}
