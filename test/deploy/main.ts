// `npm run test:deploy`: deploys a stage, tries it, updates it in place and tries it again.
// Exit codes: 0 passed, 1 failed, 2 nothing was tried.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import cdkJson from '../../cdk.json' with { type: 'json' }
import { NotStarted, startMinistack } from './ministack.ts'

const usage = `npm run test:deploy -- --ministack | --stage NAME [--remove]
  Deploys the service with CDK, tries it, updates it in place, and tries it again.
  --ministack   the stage dev on the emulator ministack, started for this run (needs Python 3.11 and openssl)
  --stage NAME  a stage of cdk.json with "protectData": false, in the AWS account of your credentials:
                this costs money, adds users and bookings, and mails SES's mailbox simulator
  --remove      remove that stage afterwards`

const directory = mkdtempSync(join(tmpdir(), 'test-deploy-'))
const interruption = new AbortController()
let kill: (signal: NodeJS.Signals) => unknown = () => undefined
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => {
    interruption.abort()
    kill(signal)
  })
let stop = async () => {}
try {
  const { stage, remove } = await readOptions()
  let environment = process.env
  if (stage === undefined) {
    const ministack = await startMinistack(directory)
    stop = ministack.stop
    environment = sealEnvironment(ministack)
  }
  if (interruption.signal.aborted) throw new NotStarted('Interrupted.')
  const task = { stage: stage ?? 'dev', isEmulated: stage === undefined, remove, directory }
  // Runs in a child process, because Node.js reads NODE_EXTRA_CA_CERTS only when it starts. Modules that
  // create AWS clients also read the environment only when they load.
  const child = spawn(process.execPath, [join(import.meta.dirname, 'try-stage.ts'), JSON.stringify(task)], {
    stdio: 'inherit',
    env: environment,
  })
  kill = (signal) => child.kill(signal)
  const [code] = (await once(child, 'exit')) as [number | null]
  process.exitCode = code ?? 1
} catch (error) {
  console.error(error instanceof NotStarted ? error.message : error)
  process.exitCode = error instanceof NotStarted ? 2 : 1
}
await stop()
if (process.exitCode === 1) console.error(`The logs are in ${directory}.`)
else rmSync(directory, { recursive: true, force: true })

/** Reads the command line. `stage` is undefined for ministack. Throws NotStarted if the test cannot run. */
async function readOptions(): Promise<{ stage: string | undefined; remove: boolean }> {
  const flag = { type: 'boolean', default: false } as const
  const { stage, ministack, remove } = parse(flag)
  if ((stage === undefined) !== ministack) throw new NotStarted(usage)
  if (stage === undefined) return { stage, remove: true }
  if (process.env['AWS_ENDPOINT_URL'] !== undefined)
    throw new NotStarted('--stage is for a real account: unset AWS_ENDPOINT_URL')
  // infra/config.ts is imported only when needed, because it loads part of CDK.
  const { ConfigError, readStageConfig } = await import('../../infra/config.ts')
  try {
    if (!readStageConfig(stage, cdkJson.context.stages).protectData) return { stage, remove }
  } catch (error) {
    throw error instanceof ConfigError ? new NotStarted(error.message) : error
  }
  throw new NotStarted(`the stage ${stage} protects its data, and this test adds users and bookings`)
}

function parse(flag: { type: 'boolean'; default: false }) {
  const options = { stage: { type: 'string' }, ministack: flag, remove: flag } as const
  try {
    return { stage: undefined, ...parseArgs({ options }).values }
  } catch (error) {
    throw new NotStarted(`${error instanceof Error ? error.message : String(error)}\n${usage}`)
  }
}

/**
 * The environment of a run on ministack. It leaves out this machine's AWS variables and credential files, so
 * that no request can reach a real account.
 */
function sealEnvironment({ endpoint, certificate }: { endpoint: string; certificate: string }) {
  return {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('AWS_'))),
    AWS_REGION: 'us-east-1',
    AWS_ENDPOINT_URL: endpoint,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_EC2_METADATA_DISABLED: 'true',
    // CDK reads AWS_CA_BUNDLE, and every other process reads NODE_EXTRA_CA_CERTS.
    AWS_CA_BUNDLE: certificate,
    NODE_EXTRA_CA_CERTS: certificate,
  }
}
