import { Command, CommanderError, Option } from 'commander'
import { addCommands } from './commands.ts'
import { findTarget } from './find-target.ts'
import type { Carry, Ops } from './ops.ts'
import { OperationFailed, UsageError } from './problems.ts'
import { enterTarget, type TargetOptions } from './target.ts'
import type { Terminal } from './terminal.ts'

/** Runs one command line. Resolves with its exit code: 0, 1 for findings or failure, 2 for wrong usage. */
export async function runOps(commandLine: string[], terminal: Terminal): Promise<number> {
  let exitCode = 0
  const program = createProgram(terminal)
  const carry: Carry = async (work) => {
    const options = program.opts<TargetOptions & { json?: true }>()
    const target = await findTarget(options)
    await enterTarget(target)
    const show: Ops['show'] = (result, text) =>
      terminal.out(options.json ? JSON.stringify(result, undefined, 2) : text())
    if ((await work({ target, terminal, show })) === false) exitCode = 1
  }
  addCommands(program, carry)
  try {
    await program.parseAsync(commandLine, { from: 'user' })
    return exitCode
  } catch (error) {
    return explain(error, terminal)
  }
}

/** The command line without its commands: what stands before them on every line. */
export function createProgram(terminal: Terminal): Command {
  return new Command('npm run ops --')
    .description('Operates a deployment: by default the local stack, with --stage one on AWS.')
    .option('--stage <name>', 'the stage on AWS, one of those in cdk.json')
    .option('--url <url>', 'address of the local stack (default: http://127.0.0.1:3000)')
    .addOption(
      new Option('--endpoint-url <url>', 'what stands in for AWS, without --url').env('AWS_ENDPOINT_URL'),
    )
    .option('--base-url <url>', 'address of the API, where the stacks do not tell it')
    .option('--table <name>', 'another table than the deployment’s, for example one that was restored')
    .option('--outputs <file>', 'what `cdk deploy --outputs-file` has written', 'cdk-outputs.json')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', '\nExit codes: 0 done, 1 findings or failure, 2 wrong usage.')
    .configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      writeErr: (text) => terminal.err(text.trimEnd()),
    })
    .exitOverride()
}

function explain(error: unknown, terminal: Terminal): number {
  // Commander has printed what is wrong, or the help that was asked for.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof UsageError) {
    terminal.err(`usage: ${error.message}`)
    return 2
  }
  const known = error instanceof OperationFailed
  terminal.err(
    known
      ? error.message
      : `failed: ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`,
  )
  return 1
}
