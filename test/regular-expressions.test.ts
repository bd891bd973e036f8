import fc from 'fast-check'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, it } from 'vitest'
import * as v from 'valibot'
import { textCell } from '../shared/community/csv.ts'
import { PlainText } from '../shared/fields.ts'

const root = join(import.meta.dirname, '..')
const files = globSync('{shared,functions}/**/*.ts', { cwd: root }).sort()

function literalsIn(file: string): { name: string; pattern: RegExp }[] {
  const source = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest)
  const found: { name: string; pattern: RegExp }[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/')
      const pattern = new RegExp(node.text.slice(1, end), node.text.slice(end + 1))
      found.push({ name: `${file} ${node.text}`, pattern })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

/** Texts that an attack repeats. A pattern is slow on a repeated text that it can match in several ways. */
const units =
  'june|july|septdecem|e|am|1|0|a|A|é|́|ß| |\t|\r\n|;|;"|"|W/"|W/|=|==|-|+|/|.|a.|:|:1|::|@|@1|a@|#|$|%2|[|(|_|\\|{"|}'.split(
    '|',
  )
const beginnings = ['', 'a', '1', ';', '"', '[']
const ends = ['', '!', '\n', '=x', '\0']

/** Returns all beginnings of a matching text. With them, attacks reach all parts of the pattern. */
function beginningsOf(pattern: RegExp): string[] {
  // fast-check cannot generate texts for look-aheads, look-behinds, `\p` and complements of sets.
  if (/\(\?<?[=!]|\\p|^\[\^/.test(pattern.source)) return []
  const texts = fc.sample(fc.stringMatching(pattern), { seed: 1, numRuns: 50 })
  const shortest = texts.reduce((one, other) => (other.length < one.length ? other : one))
  return Array.from(shortest, (_, i) => shortest.slice(0, i + 1))
}

/** Number of characters of a long attack text. A request header can be this long. */
const maxLength = 8_192

/** Time limit: 5 ms plus 1 µs per character. A quadratic pattern needs 4 µs per character at 8 KB. */
const maxMilliseconds = (length: number): number => 5 + length / 1_000

/** The shortest time of up to three runs, so that a busy machine does not fail the test. */
function timeOf(run: () => unknown, limit: number): number {
  let shortest = Infinity
  for (let i = 0; i < 3 && shortest > limit; i += 1) {
    const start = performance.now()
    run()
    shortest = Math.min(shortest, performance.now() - start)
  }
  return shortest
}

/**
 * Finds the attack text for which `read` takes the largest share of the text's time limit. Stops at the first
 * text that exceeds its time limit.
 */
function slowest(length: number, read: (text: string) => unknown, begin = beginnings) {
  let worst = { share: 0, attack: '' }
  for (const unit of units)
    for (const beginning of begin)
      for (const end of ends)
        // Tries a short text first, because an exponential pattern never ends on a long text. The short text
        // is filled up with NUL characters, because a pattern may have a minimum length.
        for (const size of [beginning.length + 27, length]) {
          const times = Math.floor((size - beginning.length - end.length) / unit.length)
          const text = (beginning + unit.repeat(times) + end).padEnd(size < length ? size + 100 : 0, '\0')
          const limit = maxMilliseconds(text.length)
          const share = timeOf(() => read(text), limit) / limit
          const attack = JSON.stringify([beginning, unit, times, end])
          if (share > worst.share) worst = { share, attack }
          if (share > 1) return worst
        }
  return worst
}

it.each(files.flatMap(literalsIn))('the regex $name matches a text of 8 KB in linear time', ({ pattern }) => {
  const begin = [...beginnings, ...beginningsOf(pattern)]
  const { share, attack } = slowest(maxLength, (text) => text.replace(pattern, ''), begin)
  expect(share, attack).toBeLessThan(1)
})

it.each([
  { name: 'a cell of the CSV export', length: 100, read: textCell },
  { name: 'a plain text', length: 2_000, read: (text: string) => v.is(PlainText(2_000), text) },
])('$name is checked in linear time', ({ length, read }) => {
  const { share, attack } = slowest(length, read)
  expect(share, attack).toBeLessThan(1)
})
