import { readConfig } from '../../../../infra/config.ts'
import type { Synthesize } from '../../../../infra/local/stage.ts'
import { synthesizeStage } from '../../../support/synthesize-from-bundles.ts'

/** How many times smaller than an account's a laptop's quota is, by the alarm that watches it. */
const shares: Record<string, number> = {
  'account-concurrency': 10,
  'kms-symmetric-quota': 500,
  'kms-quota': 500,
}

/** The standby region of the stage, which is there in its alarms only. */
export const standby = { region: 'eu-west-1' }

/** Synthesizes the stage with every alarm, those on quotas so low that calls of a rehearsal reach them. */
export const synthesizeAlarmStage: Synthesize = async (outdir, settings) => {
  const config = readConfig({ ...settings, stage: 'local' })
  const templates = await synthesizeStage(outdir, { ...config, standby, multiRegionKeys: true })
  const served = templates.filter(({ name }) => !name.endsWith('-standby'))
  for (const { Properties: alarm } of served.flatMap(({ Resources }) => Object.values(Resources))) {
    const share = shares[String(alarm?.['AlarmName'])]
    if (alarm !== undefined && share !== undefined) alarm['Threshold'] = Number(alarm['Threshold']) / share
  }
  return served
}
