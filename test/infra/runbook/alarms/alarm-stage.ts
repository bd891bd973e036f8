import { App } from 'aws-cdk-lib'
import { readConfig } from '../../../../infra/config.ts'
import type { AlarmModel } from '../../../../infra/local/model.ts'
import { readAlarms } from '../../../../infra/local/template/read-alarms.ts'
import { TemplateReader } from '../../../../infra/local/template/reader.ts'
import { readStackTemplates, type StackTemplate } from '../../../../infra/local/template/stack-templates.ts'
import { addStacks } from '../../../../infra/stacks/add-stacks.ts'
import { EdgeStack } from '../../../../infra/stacks/edge-stack.ts'

/** How many times smaller than an account's a laptop's quota is, by the alarm that watches it. */
const shares: Record<string, number> = {
  'account-concurrency': 10,
  'kms-symmetric-quota': 500,
  'kms-quota': 500,
}

/** The standby region of the stage, of which the stage's own has only the alarms. */
export const standby = { region: 'eu-west-1', alarmTopicArn: 'arn:aws:sns:eu-west-1:000000000000:alarms' }

const region = 'us-east-1'

/** The templates of a stage: of its own region, of its standby region, and of its edge. */
export interface AlarmStage {
  served: StackTemplate[]
  standby: StackTemplate[]
  edge: StackTemplate[]
}

/**
 * Synthesizes a stage with every alarm, those on quotas so low that calls of a rehearsal reach them. The
 * firewall is there in its alarm only: nothing is behind the edge, because the local stack has none.
 */
export async function synthesizeAlarmStage(
  outdir: string,
  settings: Record<string, string>,
): Promise<AlarmStage> {
  const app = new App({ outdir, analyticsReporting: false, builtinCloudFormationValidation: false })
  const knobs = { ...settings, stage: 'local', gradualDeployment: true, multiRegionKeys: true, standby }
  const config = readConfig(knobs)
  await addStacks(app, config)
  const edge = new EdgeStack(app, 'edge', { config, deploymentRegion: region })
  const templates = readStackTemplates(app.synth())
  for (const { Properties: alarm } of templates.flatMap(({ Resources }) => Object.values(Resources))) {
    const share = shares[String(alarm?.['AlarmName'])]
    if (alarm !== undefined && share !== undefined) alarm['Threshold'] = Number(alarm['Threshold']) / share
  }
  const partOf = ({ name }: StackTemplate): keyof AlarmStage => {
    if (name === edge.stackName) return 'edge'
    return name.endsWith('-standby') ? 'standby' : 'served'
  }
  return { served: [], standby: [], edge: [], ...Object.groupBy(templates, partOf) }
}

/** The alarms on metrics of templates. */
export function alarmsIn(templates: StackTemplate[]): AlarmModel[] {
  const addresses = { region, accountId: '000000000000', apiUrl: '', awsUrl: '' }
  return readAlarms(new TemplateReader(templates, addresses))
}
