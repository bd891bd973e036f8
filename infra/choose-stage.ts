import * as v from 'valibot'
import { type Config, readConfig } from './config.ts'

/** Context as cdk.json spells it; on the command line (`-c stages=…`) it is text. */
const Stages = v.pipe(
  v.union([v.pipe(v.string(), v.parseJson()), v.unknown()]),
  v.record(v.string(), v.record(v.string(), v.unknown())),
)

/** The configuration of the stage that is asked for by `-c stage=NAME`, `dev` by default; it must be one of cdk.json's. */
export function chooseStage(context: (name: string) => unknown): Config {
  const stage = v.parse(v.optional(v.string(), 'dev'), context('stage'))
  const stages = v.parse(Stages, context('stages') ?? {})
  const values = stages[stage]
  if (values === undefined)
    throw new Error(
      `there is no stage ${stage} in cdk.json; there is ${Object.keys(stages).join(', ') || 'none'}`,
    )
  return readConfig({ ...values, stage })
}
