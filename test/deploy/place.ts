import { createInterface } from 'node:readline/promises'
import cdkJson from '../../cdk.json' with { type: 'json' }
import type { Config } from '../../infra/config.ts'
import { readAccount, stageExists } from './account.ts'
import { type Emulator, findEmulator, NoEmulatorError } from './find-emulator.ts'
import { startMinistack } from './ministack.ts'
import { type Options, UsageError } from './options.ts'

/** What the process that tries a stage is told. */
export interface Task {
  stage: string
  /** The emulator; undefined for a real account. */
  emulator: Emulator['name'] | undefined
  /** Whether to remove the stage afterwards. */
  destroy: boolean
}

/** Where a stage is deployed. */
export interface Place {
  /** Says to a person what is about to happen. */
  title: string
  task: Task
  environment: NodeJS.ProcessEnv
  /** Ends what was started for this run. */
  stop: () => Promise<void>
}

/** Chooses the place that the options name, and starts ministack if they say so. */
export async function choosePlace(options: Options, directory: string): Promise<Place> {
  if (options.stage !== undefined) return chooseAccount(options.stage, options)
  if (!options.ministack) {
    const emulator = await findEmulator(process.env['AWS_ENDPOINT_URL'])
    return describeEmulator(emulator, options, process.env, async () => {})
  }
  const { endpoint, certificate, stop } = await startMinistack(directory)
  // CDK reads AWS_CA_BUNDLE, everything else NODE_EXTRA_CA_CERTS.
  const trust = { NODE_EXTRA_CA_CERTS: certificate, AWS_CA_BUNDLE: certificate }
  const emulator: Emulator = { name: 'ministack', endpoint, demandsKeys: false }
  return describeEmulator(emulator, options, { ...process.env, ...trust }, stop)
}

function describeEmulator(
  emulator: Emulator,
  { keep }: Options,
  environment: NodeJS.ProcessEnv,
  stop: Place['stop'],
): Place {
  const { name, endpoint } = emulator
  return {
    title: `Deploys the stage dev to ${name} at ${endpoint} with CDK, tries it${keep ? '' : ', and removes it again'}.`,
    task: { stage: 'dev', emulator: name, destroy: !keep },
    environment: sealEnvironment(emulator, environment),
    stop,
  }
}

/**
 * The environment of a run on an emulator. It contains nothing by which a request could reach a real account:
 * no profile, no files of credentials, no endpoint of a single service; and keys of the environment only for
 * an emulator that demands its own.
 */
export function sealEnvironment(emulator: Emulator, environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { endpoint, demandsKeys } = emulator
  const key = environment['AWS_ACCESS_KEY_ID']
  const secret = environment['AWS_SECRET_ACCESS_KEY']
  if (demandsKeys && (key === undefined || secret === undefined))
    throw new NoEmulatorError(
      `${endpoint} demands signed requests: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to its keys (AWS Emulator writes them to ~/.aws/emulator/PORT)`,
    )
  const kept = Object.entries(environment).filter(
    ([name]) => !name.startsWith('AWS_') || ['AWS_REGION', 'AWS_CA_BUNDLE'].includes(name),
  )
  return {
    AWS_REGION: 'us-east-1',
    AWS_CA_BUNDLE: environment['NODE_EXTRA_CA_CERTS'],
    ...Object.fromEntries(kept),
    AWS_ENDPOINT_URL: endpoint,
    AWS_ACCESS_KEY_ID: demandsKeys ? key : 'test',
    AWS_SECRET_ACCESS_KEY: demandsKeys ? secret : 'test',
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_EC2_METADATA_DISABLED: 'true',
  }
}

async function chooseAccount(stage: string, { yes, keep }: Options): Promise<Place> {
  if (process.env['AWS_ENDPOINT_URL'] !== undefined)
    throw new UsageError('--stage is for a real account: unset AWS_ENDPOINT_URL')
  const { serviceName } = await readTrialStage(stage, cdkJson.context.stages)
  const { account, region } = await readAccount()
  const existed = await stageExists(serviceName)
  const destroy = !existed && !keep
  const title = `WARNING: this deploys the stage ${stage} to the REAL AWS account ${account} in ${region}.
It costs money, adds test users and bookings, and mails SES's mailbox simulator. ${
    destroy
      ? 'The stage is removed again.'
      : `The stage stays${existed ? ', because it is there already' : ''}.`
  }`
  if (!yes) await confirm(title, stage)
  return {
    title: yes ? title : '',
    task: { stage, emulator: undefined, destroy },
    environment: process.env,
    stop: async () => {},
  }
}

async function confirm(warning: string, stage: string): Promise<void> {
  if (!process.stdin.isTTY) throw new UsageError(`${warning}\nGive --yes if that is what you want.`)
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const answer = await terminal.question(`${warning}\nType the name of the stage to go on: `)
  terminal.close()
  if (answer.trim() !== stage) throw new UsageError('Nothing was done.')
}

/**
 * Reads the configuration of a stage of cdk.json that may be tried. Throws a UsageError for one that is not
 * there, not valid, or protects its data: trying adds users and bookings.
 */
export async function readTrialStage(stage: string, stages: unknown): Promise<Config> {
  // Imported only when needed, because it loads part of CDK.
  const { ConfigError, readStageConfig } = await import('../../infra/config.ts')
  try {
    const config = readStageConfig(stage, stages)
    if (!config.protectData) return config
  } catch (error) {
    throw error instanceof ConfigError ? new UsageError(error.message) : error
  }
  throw new UsageError(
    `the stage ${stage} protects its data, and this test adds users and bookings: name one with "protectData": false`,
  )
}
