/**
 * Headings of the procedures that recover what was lost, or deploy. Their rehearsals take more than a minute
 * together, so npm test leaves them to npm run test:rehearsals.
 */
export const longProcedures = [
  'A stage rebuilt from its events',
  'A table restored to a point in time',
  'A bad version in service',
  'A known address or secret of the API',
  'Bills of release 1',
  'A lost region',
] as const
