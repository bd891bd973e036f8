import { describe, expect, it } from 'vitest'
import { chooseStage } from '../../infra/choose-stage.ts'

const stages = { dev: {}, prod: { exportCap: 100 } }
const choose = (context: Record<string, unknown>) => chooseStage((name) => context[name])

describe('chooseStage', () => {
  it.each([
    ['dev, unless another is asked for', { stages }, { stage: 'dev', exportCap: 10_000 }],
    ['what is asked for', { stages, stage: 'prod' }, { stage: 'prod', exportCap: 100 }],
    [
      'stages that the command line gives',
      { stages: JSON.stringify(stages), stage: 'prod' },
      { exportCap: 100 },
    ],
  ])('takes %s', (_what, context, expected) => {
    expect(choose(context)).toMatchObject(expected)
  })

  it('refuses a stage that nobody has configured, rather than deploy it with the defaults', () => {
    expect(() => choose({ stages, stage: 'prdo' })).toThrow('no stage prdo in cdk.json; there is dev, prod')
  })

  it('refuses a knob that does not exist', () => {
    expect(() => choose({ stages: { dev: { exportCop: 1 } } })).toThrow(/exportCop/)
  })
})
