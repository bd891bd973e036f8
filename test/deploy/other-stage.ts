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

/**
 * A second stage on ministack, which must still work after the tested stage is destroyed. `deploy` also
 * synthesizes it. `examine` runs `doctor` in a child process, because the environment of this process is that
 * of the tested stage.
 */
export function otherStage(directory: string, steps: Steps) {
  const assembly = join(directory, stage)
  // `npm run ops` reads the settings of the stage from cdk.json.
  writeFileSync(join(directory, 'cdk.json'), JSON.stringify({ context }))
  const run = (name: string, ...commandLine: string[]) =>
    steps.run(name, () => cdk(join(directory, `${name.replaceAll(' ', '-')}.log`), ...commandLine))
  return {
    async deploy(): Promise<void> {
      const stageOptions = ['-c', `stage=${stage}`, '-c', `stages=${JSON.stringify(context.stages)}`]
      await run('synthesize another stage', 'synth', '--quiet', '--output', assembly, ...stageOptions)
      leaveOut(assembly)
      const outputs = ['--outputs-file', join(directory, `cdk-outputs-${stage}.json`)]
      const options = ['--all', '--app', assembly, '--require-approval', 'never', ...outputs]
      await run('deploy another stage beside it', 'deploy', ...options)
    },
    remove: () => run('remove the other stage', 'destroy', '--all', '--force', '--app', assembly),
    examine: () =>
      steps.run('doctor of the other stage', async () => {
        await invokeFunction(`${namePrefix(stage)}rotate-signing-keys`, {})
        const reach = `import { reachEmulator } from '${import.meta.resolve('./reach-emulator.ts')}';
        reachEmulator('${requireEnv('AWS_ENDPOINT_URL')}')`
        const main = join(import.meta.dirname, '../../infra/ops/main.ts')
        const text = await new Promise<string>((resolve) =>
          execFile(
            process.execPath,
            ['--import', `data:text/javascript,${reach}`, main, '--stage', stage, 'doctor', '--json'],
            { cwd: directory },
            (_error, out, problem) => resolve(out + problem),
          ),
        )
        judgeReport(text, steps, 'ministack')
      }),
  }
}
