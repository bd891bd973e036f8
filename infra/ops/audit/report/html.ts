/** Text as it stands in HTML and SVG, whatever is in it. */
export const escapeHtml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')

/** A table; cells are text. */
export function htmlTable(caption: string, heads: string[], rows: string[][]): string {
  const cells = (tag: 'th' | 'td', row: string[]) =>
    `<tr>${row.map((cell) => `<${tag}${tag === 'th' ? ' scope="col"' : ''}>${escapeHtml(cell)}</${tag}>`).join('')}</tr>`
  return `<table><caption>${escapeHtml(caption)}</caption><thead>${cells('th', heads)}</thead><tbody>${rows
    .map((row) => cells('td', row))
    .join('')}</tbody></table>`
}
