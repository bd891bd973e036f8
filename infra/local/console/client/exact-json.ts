/**
 * Types that TypeScript lacks: in ECMAScript 2026, JSON.parse passes the source text of a number to its
 * callback.
 */
const { parse, rawJSON } = JSON as unknown as {
  parse: (
    text: string,
    revive: (_: string, value: unknown, context: { source: string }) => unknown,
  ) => unknown
  rawJSON: (text: string) => unknown
}

/** Parses JSON so that `JSON.stringify` writes every number with the digits that it had in the text. */
export const parseExact = (text: string): unknown =>
  parse(text, (_, value, { source }) => (typeof value === 'number' ? rawJSON(source) : value))
