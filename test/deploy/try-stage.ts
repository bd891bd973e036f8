// Deploys and tries a stage for `npm run test:deploy`. main.ts starts this file as a child process, with the
// task as a JSON argument and with the environment of ministack or the AWS account.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import cdkJson from '../../cdk.json' with { type: 'json' }
import { readStageConfig } from '../../infra/config.ts'
import { enterTarget, findTarget } from '../../infra/ops/target.ts'
import { requireEnv } from '../../shared/env.ts'
import { cdk, stopCdk } from './cdk.ts'
import { leaveOut } from './leave-out.ts'
import { otherStage } from './other-stage.ts'
import { deleteSigningKeys, findLeftovers, findRetained } from './leftovers.ts'
import { reachEmulator } from './reach-emulator.ts'
import { Steps } from './steps.ts'

const { stage, isEmulated, remove, directory } = JSON.parse(process.argv[2] ?? '') as {
  stage: string
  isEmulated: boolean
  remove: boolean
  directory: string
}
const { stages } = cdkJson.context as { stages: Record<string, object> }
const config = readStageConfig(stage, stages)
const outputsFile = join(directory, 'outputs.json')
const target = ['--stage', stage, '--outputs', outputsFile]
const steps = new Steps(console.log)

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => {
    stopCdk()
    console.error(`Interrupted. To remove the stage: npm run cdk -- destroy --all -c stage=${stage}`)
    process.exit(130)
  })
if (isEmulated) reachEmulator(requireEnv('AWS_ENDPOINT_URL'))
await enterTarget(await findTarget({ stage, outputs: outputsFile }))

const first = await synthesize('the stage')
if (isEmulated)
  await steps.run('bootstrap', () => cdk(join(directory, 'bootstrap.log'), 'bootstrap', '--app', first))
await deploy('the stage', first)
const other = isEmulated ? otherStage(directory, steps) : undefined
if (readOutputs()) await tryAndUpdate()
if (remove) {
  await steps.run('remove the stage', () =>
    cdk(join(directory, 'destroy.log'), 'destroy', '--all', '--force', '--app', first),
  )
  await steps.run('delete its signing keys', () => deleteSigningKeys(config))
  await steps.run('nothing is left', async () => {
    const left = [...findRetained(first), ...(await findLeftovers(config))]
    if (left.length > 0) throw new Error(left.join('\n'))
  })
  await other?.examine()
  await other?.remove()
}
console.log(steps.passed ? 'All passed.' : 'Something failed.')
process.exitCode = steps.passed ? 0 : 1

/** Tests the stage, updates it in place, and tests it again: the session and wallet must still exist. */
async function tryAndUpdate(): Promise<void> {
  const { signInToClient } = await import('./flows/code-flow.ts')
  const { judgeTransaction } = await import('./flows/leading-keys.ts')
  const { consultDoctor, ops } = await import('./flows/ops.ts')
  const { rotate } = await import('./flows/rotation.ts')
  const { signIn, signOut } = await import('./flows/sign-in.ts')
  const { bookDuplicates, expectWallet, refuseEvent, useWallet } = await import('./flows/wallet.ts')
  // Skipped on ministack, whose IAM does not see which partitions a request touches.
  if (!isEmulated)
    await steps.run('AWS judges each member of a transaction by its own partition', judgeTransaction)
  const longer = { ...stages, [stage]: { ...stages[stage], accessTokenTtlSeconds: 50_000 } }
  // Runs during the first sign-in, which has to wait for the stage's first signing key.
  const prepare = async () => {
    await other?.deploy()
    return synthesize('an update', '-c', `stages=${JSON.stringify(longer)}`)
  }
  const [user, update] = await Promise.all([
    steps.run('sign in by password and authenticator', signIn),
    prepare(),
  ])
  if (user !== undefined) {
    await steps.run('sign in to a third-party client by code (openid-client)', () => signInToClient(user))
    await steps.run('credit a wallet by event', () => useWallet(user))
    await steps.run('deliver an event three times', () => bookDuplicates(user))
    await steps.run('refuse an event', () => refuseEvent(user, target))
    await steps.run('rotate the signing key', () => rotate(user, target))
  }
  await steps.run('doctor', () => consultDoctor(target, steps, isEmulated ? 'ministack' : 'AWS'))
  await steps.run('audit the signing keys', () => ops([...target, 'keys', 'audit']))
  await deploy('an update', update)
  if (user !== undefined) {
    await steps.run('the session and the wallet outlive the update', () => expectWallet(user))
    await steps.run('sign out', () => signOut(user))
  }
  await steps.run('sign in after the update', async () => useWallet(await signIn()))
  await steps.run('verify the ledger', () => ops([...target, 'ledger', 'verify']))
}

async function synthesize(name: string, ...options: string[]): Promise<string> {
  const slug = name.replace(' ', '-')
  const assembly = join(directory, slug)
  const common = ['-c', `stage=${stage}`, '--quiet', '--output', assembly]
  const isFirst = options.length === 0
  const done = await steps.run(`synthesize ${name}`, async () => {
    await cdk(join(directory, `${slug}-synth.log`), 'synth', ...common, ...options)
    return true
  })
  const leftOut = done && isEmulated ? leaveOut(assembly) : []
  if (isFirst) for (const line of leftOut) steps.note(line)
  return assembly
}

async function deploy(name: string, assembly: string): Promise<void> {
  const logFile = join(directory, `${name.replace(' ', '-')}-deploy.log`)
  const options = ['--require-approval', 'never', '--outputs-file', outputsFile, '--app', assembly]
  await steps.run(`deploy ${name}`, () => cdk(logFile, 'deploy', '--all', ...options))
}

/** Sets BASE_URL and AUTH_URL from the outputs of the stacks. Returns false if the outputs are missing. */
function readOutputs(): boolean {
  if (!existsSync(outputsFile)) return false
  const Outputs = v.record(v.string(), v.record(v.string(), v.string()))
  const stacks = v.parse(Outputs, JSON.parse(readFileSync(outputsFile, 'utf8')))
  const outputs = Object.assign({}, ...Object.values(stacks)) as Record<string, string | undefined>
  const { BaseUrl: baseUrl, AuthUrl: authUrl } = outputs
  if (baseUrl === undefined || authUrl === undefined) return false
  Object.assign(process.env, { BASE_URL: baseUrl, AUTH_URL: authUrl })
  return true
}
