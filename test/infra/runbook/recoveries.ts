/**
 * Headings of the procedures that recover what was lost. Their rehearsals take more than a minute together,
 * so npm test leaves them to npm run test:rehearsals.
 */
export const recoveries = [
  'A stage rebuilt from its events',
  'A table restored to a point in time',
  'A lost region',
] as const
