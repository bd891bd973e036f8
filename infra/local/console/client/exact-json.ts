/**
 * Parses JSON without losing a digit of any amount: a number that a double cannot hold to the letter becomes its text, and
 * is shown as that. Browsers that do not give the source text round, as they would have anyway.
 */
export const parseExactly = (text: string): unknown =>
  JSON.parse(text, (_name, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && context?.source !== undefined && String(value) !== context.source
      ? context.source
      : value,
  )

/** A number of the API, exact: as text where a double would not do. Only ever shown, never computed with. */
export type Exact = number | string
