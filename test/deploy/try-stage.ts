// The part of `npm run test:deploy` that deploys and tries: main.ts starts it as a process, with the
// environment of the place and its task as JSON.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import cdkJson from '../../cdk.json' with { type: 'json' }
import { readStageConfig } from '../../infra/config.ts'
import { enterTarget, findTarget } from '../../infra/ops/target.ts'
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
const outputsFile = join(directory, 'outputs.json')
const target = ['--stage', stage, '--outputs', outputsFile]
const steps = new Steps(console.log)

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => {
    stopCdk()
    console.error(`Interrupted. Remove what was deployed with: npx cdk destroy --all -c stage=${stage}`)
    process.exit(130)
  })
if (emulator !== undefined) reachEmulator(requireEnv('AWS_ENDPOINT_URL'))

await enterTarget(await findTarget({ stage, outputs: outputsFile }))

/** Directories of the synthesized assemblies, the first release first. */
const releases: string[] = []
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
    cdk(join(directory, 'destroy.log'), 'destroy', '--all', '--force', '--app', releases.at(-1) ?? ''),
  )
  await steps.run('nothing is left', async () => {
    const left = [...findRetained(releases), ...(await findLeftovers(releases, config.serviceName))]
    if (left.length > 0) throw new Error(left.join('\n'))
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
  const leftOut = synthesized && emulator !== undefined ? leaveOut(emulator, assembly) : []
  // Release B lacks the same, which need not be said again.
  if (releases.push(assembly) === 1) for (const line of leftOut) steps.note(line)
  return assembly
}

/** Deploys all stacks. If one fails, it deploys those of the API alone, so that the flows can be tried. */
async function deploy(name: string, assembly: string): Promise<void> {
  const logFile = join(directory, `${name.replace(' ', '-')}-deploy.log`)
  const common = ['--require-approval', 'never', '--outputs-file', outputsFile, '--app', assembly]
  const done = await steps.run(`deploy ${name}`, async () => {
    await cdk(logFile, 'deploy', '--all', ...common)
    return true
  })
  if (done) return
  await steps.run(`deploy ${name} without the stacks that failed`, () =>
    cdk(`${logFile}.2`, 'deploy', `account-service-${stage}-api`, ...common),
  )
}

/** Sets the variables that the flows need, from the outputs of the stacks. Returns false without outputs. */
function readOutputs(): boolean {
  if (!existsSync(outputsFile)) return false
  const stacks = v.parse(
    v.record(v.string(), v.record(v.string(), v.string())),
    JSON.parse(readFileSync(outputsFile, 'utf8')),
  )
  const outputs = Object.assign({}, ...Object.values(stacks)) as Record<string, string | undefined>
  const { BaseUrl: baseUrl, AuthUrl: authUrl } = outputs
  if (baseUrl === undefined || authUrl === undefined) return false
  Object.assign(process.env, { BASE_URL: baseUrl, AUTH_URL: authUrl })
  return true
}
