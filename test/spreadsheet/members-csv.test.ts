import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Member } from '../../shared/community/profile.ts'
import { membersCsv } from '../../shared/community/csv.ts'
import { Big } from '../../shared/money.ts'

/** Texts that a spreadsheet program might run as a formula or convert to another type. */
const texts = [
  ...['=1+1', '+1', '-1', '@x', '\t=1+1', '\n=1+1', '\r=1+1', '\0=1+1', ' =1+1', '＝1+1', '=cmd|x', '"=1+1"'],
  ...['007', '1e5', '1E+05', '1,5', '1 000', '.5', '(5)', '$5', '5%', '1/2', '0x10', 'true', 'FALSE', '#N/A'],
  ...['2026-01-02', '1.5.2024', '12:30', '12:30 PM', '5 pm', 'MARCH1', 'Mar 5', '5 Mar 2024', 'Jan-24'],
  ...[
    'Ann "the" first, née',
    'a;=1+1',
    'a\t=1+1',
    'a;"=1+1',
    'a; \t@x',
    ';=1+1',
    'x\n=1+1',
    '👍',
    '½',
    '２０２６',
  ],
]

const member = (text: string, i: number): Member => ({
  user_id: i + 1,
  nickname: text,
  email: 'a***n@example.com',
  joined_at: 1_767_225_600_000,
  level: 1,
  direct_count: 2,
  team_count: 3,
  package_amount: new Big('0.5'),
  team_performance: new Big('12'),
  note: text,
})

interface Cell {
  /** OpenDocument value type of the cell: `string` or `float`. */
  type: string | undefined
  formula: boolean
}

/** Reads the cells of a flat OpenDocument sheet, row by row. */
function readCells(fods: string): Cell[][] {
  return [...fods.matchAll(/<table:table-row.*?<\/table:table-row>/gs)].map(([row]) =>
    [...row.matchAll(/<table:table-cell([^>]*)>/g)].map(([, attributes = '']) => ({
      type: /office:value-type="(\w+)"/.exec(attributes)?.[1],
      formula: attributes.includes('table:formula'),
    })),
  )
}

describe('the members export in LibreOffice', () => {
  const directory = mkdtempSync(join(tmpdir(), 'spreadsheet-'))
  afterAll(() => rmSync(directory, { recursive: true }))
  let sheet: string
  let rows: Cell[][]

  /** Opens the export in LibreOffice with these separators of cells, given by their code points. */
  function open(separators: string): string {
    const file = join(directory, 'members.csv')
    writeFileSync(file, membersCsv(texts.map(member)).body)
    // Uses a profile of its own, because LibreOffice runs only one instance per profile.
    const profile = `-env:UserInstallation=file://${join(directory, 'profile')}`
    // LibreOffice's filter options for a CSV file: separators, quotation mark, UTF-8 (76).
    const reading = `--infilter=Text - txt - csv (StarCalc):${separators},34,76`
    const writing = ['--convert-to', 'fods', '--outdir', directory]
    execFileSync('soffice', [profile, '--headless', reading, ...writing, file])
    return readFileSync(join(directory, 'members.fods'), 'utf8')
  }

  beforeAll(() => {
    // Comma, as its import dialog proposes.
    sheet = open('44')
    rows = readCells(sheet).slice(1)
  }, 120_000)

  it.each([
    ['semicolon', '59'],
    ['tab', '9'],
  ])(
    'opened with %s as separator, the members export has no formula',
    (_name, separators) => {
      const cells = readCells(open(separators)).flat()
      expect(cells.length).toBeGreaterThan(texts.length)
      expect(cells.filter(({ formula }) => formula)).toEqual([])
    },
    120_000,
  )

  it('the members export has a header and one row per member in LibreOffice', () => {
    expect(rows).toHaveLength(texts.length)
    expect(sheet).toContain('<text:p>user_id</text:p>')
    expect(sheet).toContain('née')
  })

  it.each(texts.map((text, i) => ({ text, i })))(
    'LibreOffice shows $text as text, as nickname and as note',
    ({ i }) => {
      const [, nickname, email, ...rest] = rows[i] ?? []
      const isText = { type: 'string', formula: false }
      expect([nickname, email, rest.at(6)]).toEqual([isText, isText, isText])
    },
  )

  it('the members export has no formulas in LibreOffice, and its number columns are numbers', () => {
    for (const cells of rows) {
      expect(cells.filter(({ formula }) => formula)).toEqual([])
      expect([cells[0], ...cells.slice(3, 9)].map((cell) => cell?.type)).toEqual(Array(7).fill('float'))
    }
  })
})
