import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { namePrefix } from '../../infra/names.ts'
import { invokeFunction } from '../../infra/ops/invoke-function.ts'
import { requireEnv } from '../../shared/env.ts'
import { cdk } from './cdk.ts'
import { judgeReport } from './flows/ops.ts'
import { leaveOut } from './leave-out.ts'
import type { Steps } from './steps.ts'

const stage = 'other'
const knobs = {
  mailFrom: 'no-reply@example.com',
  protectData: false,
  // Unlike the stage `dev`, this stage has alarms, so it must name a topic that receives them.
  alarmTopicArn: 'arn:aws:sns:us-east-1:000000000000:alarms',
}
const context = { stages: { [stage]: knobs } }

/** A second stage on ministack, beside the tested one, to show that neither stage affects the other. */
export class OtherStage {
  private readonly directory: string
  private readonly steps: Steps
  private readonly assembly: string

  constructor(directory: string, steps: Steps) {
    this.directory = directory
    this.steps = steps
    this.assembly = join(directory, stage)
    // `npm run ops` reads the settings of the stage from cdk.json.
    writeFileSync(join(directory, 'cdk.json'), JSON.stringify({ context }))
  }

  async synthesize(): Promise<void> {
    const options = ['-c', `stage=${stage}`, '-c', `stages=${JSON.stringify(context.stages)}`]
    await this.run('synthesize another stage', 'synth', '--quiet', '--output', this.assembly, ...options)
    leaveOut(this.assembly)
  }

  deploy(): Promise<unknown> {
    const outputs = ['--outputs-file', join(this.directory, `cdk-outputs-${stage}.json`)]
    const options = ['--all', '--app', this.assembly, '--require-approval', 'never']
    return this.run('deploy another stage beside it', 'deploy', ...options, ...outputs)
  }

  remove(): Promise<unknown> {
    return this.run('remove the other stage', 'destroy', '--all', '--force', '--app', this.assembly)
  }

  /** Runs `doctor` in a process of its own, because the environment of this process names another table. */
  examine(): Promise<unknown> {
    return this.steps.run('doctor of the other stage', async () => {
      await invokeFunction(`${namePrefix(stage)}rotate-signing-keys`, {})
      const reach = `import { reachEmulator } from '${import.meta.resolve('./reach-emulator.ts')}';
        reachEmulator('${requireEnv('AWS_ENDPOINT_URL')}')`
      const main = join(import.meta.dirname, '../../infra/ops/main.ts')
      const text = await new Promise<string>((resolve) =>
        execFile(
          process.execPath,
          ['--import', `data:text/javascript,${reach}`, main, '--stage', stage, 'doctor', '--json'],
          { cwd: this.directory },
          (_error, out, problem) => resolve(out + problem),
        ),
      )
      judgeReport(text, this.steps)
    })
  }

  private run(name: string, ...commandLine: string[]): Promise<unknown> {
    return this.steps.run(name, () =>
      cdk(join(this.directory, `${name.replaceAll(' ', '-')}.log`), ...commandLine),
    )
  }
}
