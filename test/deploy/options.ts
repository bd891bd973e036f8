import { parseArgs } from 'node:util'

/** What `npm run test:deploy` is asked to do. */
export interface Options {
  /** A stage of cdk.json to deploy to a real AWS account; undefined for the stage `dev` on an emulator. */
  stage: string | undefined
  /** Skips the question before a real account is changed. */
  yes: boolean
  /** Leaves the stage deployed. */
  keep: boolean
  /** Starts ministack for this run, in place of an emulator that runs already. */
  ministack: boolean
}

/** Thrown for a wrong command line, or one that was not confirmed; the message says what to do. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export const usage = `npm run test:deploy [-- OPTIONS]
  Deploys the service with CDK, tries it, and removes it again: the stage dev on the AWS emulator to which
  AWS_ENDPOINT_URL points, or a stage in a real account.
  --ministack   start the emulator ministack for this run (needs Python 3.10 or later and openssl)
  --stage NAME  a stage of cdk.json, in the real AWS account of your credentials; asks before it begins
  --yes         do not ask
  --keep        leave the stage deployed
Exit codes: 0 all passed, 1 something failed, 2 nothing was tried.`

/** Reads the command line. Throws a UsageError that shows the options. */
export function readOptions(commandLine: string[]): Options {
  const { stage, yes, keep, ministack, help } = parse(commandLine)
  if (help) throw new UsageError(usage)
  if (stage !== undefined && ministack)
    throw new UsageError('--stage is for a real account and --ministack for an emulator: give one of them')
  return { stage, yes, keep, ministack }
}

function parse(commandLine: string[]) {
  const flag = { type: 'boolean', default: false } as const
  const options = { stage: { type: 'string' }, yes: flag, keep: flag, ministack: flag, help: flag } as const
  try {
    return { stage: undefined, ...parseArgs({ args: commandLine, options }).values }
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}\n${usage}`)
  }
}
