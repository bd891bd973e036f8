import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, it } from 'vitest'
import { eventSchemas } from '../../../infra/openapi/event-schemas.ts'
import { demoStages } from '../../../infra/local/demo/demo-events.ts'

it('every demo event matches the published JSON Schema of its event type', async () => {
  const setting = { firstStart: Date.UTC(2026, 0, 1), quoteCurrency: 'USDT', rewardCurrency: 'USDT' }
  const events = demoStages(setting).flat()
  const schemas = await eventSchemas()
  const ajv = new Ajv2020({ strict: false })
  for (const { detailType, detail } of events) {
    const validate = ajv.compile(schemas[detailType] ?? {})
    expect(validate(detail), `${detailType}: ${ajv.errorsText(validate.errors)}`).toBe(true)
  }
})
