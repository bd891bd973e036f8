/**
 * Headings of the procedures that recover what was lost, or deploy, which recovery.stack.test.ts rehearses.
 */
export const longProcedures = [
  'A stage rebuilt from its events',
  'A table restored to a point in time',
  'A bad version in service',
  'A known address or secret of the API',
  'Bills of release 1',
  'A lost region',
] as const
