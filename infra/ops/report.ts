import { inOneLine } from './format.ts'
import type { Tone } from './terminal.ts'

/** What a command found, for people: a verdict in words, then the parts that it rests on. */
export interface Report {
  /** Whether all is well. */
  ok: boolean
  /** The answer to the question that the command was asked, in one line. */
  verdict: string
  /** In the order of their weight: what is wrong comes first. A section without rows is left out. */
  sections: Section[]
}

/** A part of a report: a table of rows. */
export interface Section {
  title?: string
  /** Names of the columns, if the rows do not explain themselves. */
  columns?: string[]
  rows: Row[]
  /** Whether each row is a mark of something well or wrong. */
  tone?: Extract<Tone, 'well' | 'wrong'>
}

/** A row of a table. Its last cell, and the text below it, may be as long as they need to be. */
export interface Row {
  cells: readonly string[]
  below?: string
}

/** A line of a report, and what it says. */
export type Line = [text: string, tone?: Tone]

/**
 * Lays a report out as lines. If `columns` is given, long texts are wrapped at words to fit into a screen of
 * this width. A word that is longer, such as an ARN, stays whole, so that it can be copied.
 */
export function* layOut({ ok, verdict, sections }: Report, columns = Infinity): Generator<Line> {
  yield [verdict, ok ? 'all well' : 'something wrong']
  for (const section of sections.filter(({ rows }) => rows.length > 0)) {
    yield ['']
    yield* layOutSection(section, columns)
  }
}

const indent = '  '

/** The least width in which a text is still wrapped. On a narrower screen, the terminal breaks its lines. */
const minWidth = 24

function* layOutSection(section: Section, columns: number): Generator<Line> {
  const { title, columns: names, tone } = section
  if (title !== undefined) yield [title, 'title']
  const rows = section.rows.map(({ cells, below }) => ({ cells: cells.map(inOneLine), below }))
  const tables = [...(names === undefined ? [] : [names]), ...rows.map(({ cells }) => cells)]
  const widths = tables[0]?.map((_, column) => Math.max(...tables.map((cells) => cells[column]?.length ?? 0)))
  const layOutCells = (cells: readonly string[]): string[] => {
    const start =
      indent +
      cells
        .slice(0, -1)
        .map((cell, i) => `${cell.padEnd(widths?.[i] ?? 0)}  `)
        .join('')
    const [first = '', ...others] = wrap(cells.at(-1) ?? '', columns - start.length)
    return [(start + first).trimEnd(), ...others.map((text) => ' '.repeat(start.length) + text)]
  }
  if (names !== undefined) yield* layOutCells(names).map((text): Line => [text, 'title'])
  for (const { cells, below } of rows) {
    const [first = '', ...others] = layOutCells(cells)
    yield tone === undefined ? [first] : [first, tone]
    for (const text of others) yield [text]
    if (below === undefined) continue
    for (const text of wrap(inOneLine(below), columns - 2 * indent.length)) yield [indent + indent + text]
  }
}

/** Breaks a text between words into lines of at most `width`. */
function wrap(text: string, width: number): string[] {
  if (width < minWidth) return [text]
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}

/** A number with its noun: `1 check`, `2 checks`. */
export const countNoun = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
