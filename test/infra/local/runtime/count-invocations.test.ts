import { expect, it, vi } from 'vitest'
import { countInvocations } from '../../../../infra/local/runtime/count-invocations.ts'
import { describeFunction } from '../fixture/models.ts'

/** The metrics with these dimensions after a call, of which the function ran this version. */
async function countCall(executedVersion: string, functionError?: 'Unhandled', alias?: string) {
  const model = describeFunction('probe.echo', alias ? { alias: { name: alias, version: '1' } } : {})
  const record = vi.fn()
  const result = { payload: '', functionError, requestId: '', executedVersion, logTail: '' }
  await countInvocations([model], async () => result, record)(model.logicalId, '{}')
  const recorded = record.mock.calls as [{ name: string; dimensions: Record<string, string> }, number][]
  return (dimensions: Record<string, string>) =>
    Object.fromEntries(
      recorded
        .filter(([metric]) => JSON.stringify(metric.dimensions) === JSON.stringify(dimensions))
        .map(([{ name }, value]) => [name, value]),
    )
}

it('a call through an alias counts for the function, and for the version that ran', async () => {
  const counted = await countCall('2', 'Unhandled', 'live')
  expect(counted({ FunctionName: 'probe-echo' })).toMatchObject({ Invocations: 1, Errors: 1, Throttles: 0 })
  expect(counted({ FunctionName: 'probe-echo', Resource: 'probe-echo:live', ExecutedVersion: '2' })).toEqual({
    Invocations: 1,
    Errors: 1,
  })
})

it('a call of a function without an alias counts for the function only', async () => {
  const counted = await countCall('$LATEST')
  expect(counted({ FunctionName: 'probe-echo' })).toMatchObject({ Invocations: 1, Errors: 0 })
  expect(
    counted({ FunctionName: 'probe-echo', Resource: 'probe-echo:live', ExecutedVersion: '$LATEST' }),
  ).toEqual({})
})
