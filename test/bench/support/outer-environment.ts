/**
 * The environment of this process without what a bench stack has set, for processes with a stack of their
 * own.
 */
export const outerEnvironment = (): Record<string, string | undefined> =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('AWS_') && name !== 'TABLE_NAME'),
  )
