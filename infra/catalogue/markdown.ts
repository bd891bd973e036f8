/** Formats a Markdown table. Cells are single lines; vertical bars in them are escaped. */
export function markdownTable(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

const begin = (name: string): string => `<!-- generated: ${name} -->`
const end = '<!-- end of generated -->'

/** Replaces the section between two markers of a document. Throws if the document lacks the markers. */
export function replaceSection(document: string, name: string, text: string): string {
  const start = document.indexOf(begin(name))
  const stop = document.indexOf(end, start)
  if (start === -1 || stop === -1) throw new Error(`the document has no markers for ${name}`)
  return `${document.slice(0, start)}${begin(name)}\n\n${text}\n\n${document.slice(stop)}`
}
