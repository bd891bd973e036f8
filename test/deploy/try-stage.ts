// The part of `npm run test:deploy` that deploys and tries: main.ts starts it as a process, with the
// environment of the place and its task as JSON.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import cdkJson from '../../cdk.json' with { type: 'json' }
import { readStageConfig } from '../../infra/config.ts'
import { requireEnv } from '../../shared/env.ts'
import { cdk, stopCdk } from './cdk.ts'
import { leaveOut } from './leave-out.ts'
import { findLeftovers, findRetained } from './leftovers.ts'
import type { Task } from './place.ts'
import { reachEmulator } from './reach-emulator.ts'
import { Steps } from './steps.ts'

const { stage, emulator, destroy, directory } = JSON.parse(process.argv[2] ?? '') as Task & {
  directory: string
}
const config = readStageConfig(stage, cdkJson.context.stages)
const target = ['--stage', stage, '--outputs', join(directory, 'outputs.json')]
const steps = new Steps(console.log)

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    stopCdk()
    console.error(`Interrupted. Remove what was deployed with: npx cdk destroy --all -c stage=${stage}`)
    process.exit(130)
  })
if (emulator !== undefined) reachEmulator(requireEnv('AWS_ENDPOINT_URL'))

const release = await synthesize('release A')
if (emulator !== undefined)
  await steps.run('bootstrap', () => cdk(join(directory, 'bootstrap.log'), 'bootstrap', '--app', release))
await deploy('release A', release)
if (readOutputs()) {
  const { tryRelease, tryReleaseB } = await import('./try-release.ts')
  const context = { steps, config, target }
  await tryRelease(context)
  if (emulator !== undefined) {
    const later = await synthesize('release B', '--app', 'node test/deploy/release-b.ts')
    await deploy('release B', later)
    await tryReleaseB(context)
  }
}
if (destroy) {
  await steps.run('destroy', () =>
    cdk(join(directory, 'destroy.log'), 'destroy', '--all', '--force', '--app', release),
  )
  await steps.run('nothing is left', async () => {
    assert.deepEqual([...findRetained(release), ...(await findLeftovers(config))], [])
  })
}
console.log(steps.passed ? 'All passed.' : 'Something failed.')
process.exitCode = steps.passed ? 0 : 1

async function synthesize(name: string, ...options: string[]): Promise<string> {
  const slug = name.replace(' ', '-')
  const assembly = join(directory, slug)
  const synthesized = await steps.run(`synthesize ${name}`, async () => {
    await cdk(
      join(directory, `${slug}-synth.log`),
      'synth',
      '-c',
      `stage=${stage}`,
      '--quiet',
      '--output',
      assembly,
      ...options,
    )
    return true
  })
  if (synthesized && emulator !== undefined) for (const line of leaveOut(emulator, assembly)) steps.note(line)
  return assembly
}

/** Deploys all stacks. If one fails, it deploys those of the API alone, so that the flows can be tried. */
async function deploy(name: string, assembly: string): Promise<void> {
  const outputs = join(directory, 'outputs.json')
  const logFile = join(directory, `${name.replace(' ', '-')}-deploy.log`)
  const common = ['--require-approval', 'never', '--outputs-file', outputs, '--app', assembly]
  const done = await steps.run(`deploy ${name}`, async () => {
    await cdk(logFile, 'deploy', '--all', ...common)
    return true
  })
  if (done) return
  await steps.run(`deploy ${name} without the stacks that failed`, () =>
    cdk(`${logFile}.2`, 'deploy', `account-service-${stage}-api`, ...common),
  )
}

function readOutputs(): boolean {
  const file = join(directory, 'outputs.json')
  if (!existsSync(file)) return false
  const stacks = v.parse(
    v.record(v.string(), v.record(v.string(), v.string())),
    JSON.parse(readFileSync(file, 'utf8')),
  )
  const outputs = Object.assign({}, ...Object.values(stacks)) as Record<string, string | undefined>
  const { BaseUrl, AuthUrl, TableName = config.serviceName, EventBusName = config.serviceName } = outputs
  if (BaseUrl === undefined || AuthUrl === undefined) return false
  Object.assign(process.env, {
    BASE_URL: BaseUrl,
    AUTH_URL: AuthUrl,
    TABLE_NAME: TableName,
    EVENT_BUS_NAME: EventBusName,
  })
  return true
}
