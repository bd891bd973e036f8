import { Command, CommanderError } from 'commander'
import type { CommandContext, RunCommand } from './command.ts'
import { addDeadLetterCommands } from './commands/dlq.ts'
import { addEventCommands } from './commands/event.ts'
import { addInspectionCommands } from './commands/inspect.ts'
import { addKeysCommands } from './commands/keys.ts'
import { addRecoveryCommands } from './commands/recover.ts'
import { OperationError, UsageError } from './errors.ts'
import { enterTarget, findTarget, type TargetOptions } from './target.ts'
import { type Terminal, withoutControls } from './terminal.ts'
import { formatResult } from './format.ts'
import { layOut } from './report.ts'

/** Runs one `npm run ops` command line. Resolves with its exit code: see the help text below. */
export async function runOps(commandLine: string[], output: Terminal): Promise<number> {
  const terminal = withoutControls(output)
  let exitCode = 0
  const program = createProgram(terminal)
  const run: RunCommand = async (work) => {
    const options = program.opts<TargetOptions & { json?: true }>()
    const target = await findTarget(options)
    await enterTarget(target)
    const show: CommandContext['show'] = (
      result,
      { report, ok = report?.ok ?? true, text = result } = {},
    ) => {
      if (options.json) terminal.out(JSON.stringify(result, undefined, 2))
      else if (report === undefined) terminal.out(formatResult(text))
      else for (const line of layOut(report, terminal.columns)) terminal.out(...line)
      return ok
    }
    if (!(await work({ target, terminal, json: options.json === true, show }))) exitCode = 1
  }
  addCommands(program, run)
  try {
    refuseEmpty(commandLine)
    await program.parseAsync(commandLine.map(markKid), { from: 'user' })
    return exitCode
  } catch (error) {
    return reportError(error, terminal)
  }
}

/** Runs a command line with this standard input, and resolves with its exit code and what it wrote. */
export async function captureOps(commandLine: string[], input = '') {
  const lines = { out: [] as string[], err: [] as string[] }
  const code = await runOps(commandLine, {
    out: (text) => void lines.out.push(text),
    err: (text) => void lines.err.push(text),
    readInput: async function* () {
      yield Buffer.from(input)
    },
  })
  return { code, out: lines.out.join('\n'), err: lines.err.join('\n') }
}

/** Refuses empty text, as of an unset variable: every reason begins with it, so `dlq drop` would take all. */
function refuseEmpty(commandLine: string[]): void {
  const empty = commandLine.findIndex((argument) => /^(--[a-z-]+=)?$/.test(argument))
  if (empty === -1) return
  const before = commandLine.slice(0, empty + 1).findLast((argument) => argument !== '')
  throw new UsageError(`empty text after \`${before ?? 'ops --'}\`: is a variable unset?`)
}

/**
 * Puts a space before a kid that begins with a hyphen, because commander would take the kid for an option.
 * One kid in 64 begins so, because a kid is a SHA-256 in base64url (RFC 7638).
 */
const markKid = (argument: string): string =>
  /^-[A-Za-z0-9_-]{42}$/.test(argument) ? ` ${argument}` : argument

/** Creates the command-line program with its global options, without commands. */
export function createProgram(terminal: Terminal): Command {
  return new Command('npm run ops --')
    .description('Operates a deployment: the local stack by default, a stage on AWS with --stage.')
    .option('--stage <name>', 'a stage on AWS, from cdk.json')
    .option('--url <url>', 'address of the local stack (default: http://127.0.0.1:3000)')
    .option('--base-url <url>', 'address of the API, if neither configuration nor stack outputs name it')
    .option('--region <name>', 'region of the stage, if it is not that of the AWS SDK')
    .option('--table <name>', 'another table than the deployment’s, for example a restored one')
    .option('--outputs <file>', 'file of `cdk deploy --outputs-file` (default: cdk-outputs-STAGE.json)')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', '\nExit codes: 0 done, 1 findings or failure, 2 wrong usage.')
    .configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      writeErr: (text) => terminal.err(text.trimEnd()),
    })
    .exitOverride()
}

/** Adds every operator command to the program. */
export function addCommands(program: Command, run: RunCommand): void {
  for (const add of [
    addInspectionCommands,
    addEventCommands,
    addDeadLetterCommands,
    addKeysCommands,
    addRecoveryCommands,
  ])
    add(program, run)
}

function reportError(error: unknown, terminal: Terminal): number {
  // Print nothing more: commander has already printed the error or the requested help.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof UsageError) {
    terminal.err(`usage: ${error.message}`)
    return 2
  }
  if (error instanceof OperationError) terminal.err(error.message)
  else terminal.err(`failed: ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`)
  // The errors of DynamoDB Local and AWS do not name the table that does not exist.
  if (/existent table|Requested resource/.test(String(error)))
    terminal.err(`table: ${process.env['TABLE_NAME']}`)
  return 1
}
