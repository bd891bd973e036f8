import type { ReferenceSchema } from '../support/described-answer.ts'

/** Values around the limits of a schema: numbers, and texts. */
export interface Limits {
  numbers: number[]
  texts: string[]
}

/**
 * The values at the limits of a schema, and one before and after each: of numbers, of lengths (those of a
 * pattern, too) and of fixed values. Texts are made of one that the schema allows.
 */
export function findLimits(schema: ReferenceSchema, allowed: string): Limits {
  const parts = ['anyOf', 'oneOf'].flatMap((name) => (schema[name] ?? []) as ReferenceSchema[])
  const all = [schema, ...parts.flatMap((part) => [part, ...((part['anyOf'] ?? []) as ReferenceSchema[])])]
  const numbers = all.flatMap(({ minimum, maximum }) => around([minimum, maximum]))
  const lengths = all.flatMap(({ minLength, maxLength, pattern }) =>
    around([minLength, maxLength, ...lengthsOf(pattern)]),
  )
  const fixed = all
    .flatMap(({ enum: values = [], const: only }) => [...(values as unknown[]), only])
    .filter((value) => typeof value === 'string')
  return {
    numbers: unique(numbers),
    texts: unique([
      ...lengths.filter((length) => length >= 0).map((length) => stretch(allowed, length)),
      ...fixed.flatMap((value) => [value, `${value}x`, swapCase(value)]),
    ]),
  }
}

const around = (limits: readonly unknown[]): number[] =>
  limits
    .filter((limit) => typeof limit === 'number')
    .flatMap((limit) => [limit - 1, limit, limit + 1])
    .filter((limit) => Math.abs(limit) <= Number.MAX_SAFE_INTEGER + 1)

const lengthsOf = (pattern: unknown): number[] =>
  [...(typeof pattern === 'string' ? pattern : '').matchAll(/\{(?:(\d+),)?(\d+)\}/g)]
    .flatMap(([, least, most]) => [least, most])
    .filter((length) => length !== undefined)
    .map(Number)

const swapCase = (text: string): string =>
  text === text.toLowerCase() ? text.toUpperCase() : text.toLowerCase()

const unique = <Item>(items: readonly Item[]): Item[] => [...new Set(items)]

/** A text of so many characters that begins like another one. */
export function stretch(text: string, length: number): string {
  const characters = Array.from(text)
  const more = (characters.at(-1) ?? 'x').repeat(Math.max(0, length - characters.length))
  return characters.slice(0, length).join('') + more
}
