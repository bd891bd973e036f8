import type { FunctionModel } from '../../../infra/local/model.ts'
import { addBills, type Bill } from '../../support/bill-call.ts'
import { type Row, round } from '../table.ts'
import type { Operation } from './operations.ts'
import { dollarsByPrice, storageDollarsPerGigabyteMonth } from './prices.ts'

/** A call to an AWS service, and when it came and was answered, in milliseconds. */
export interface AwsCall {
  service: string
  name: string
  startedAt: number
  endedAt: number
}

/** What one run of an operation took: its AWS calls, and what AWS bills for those to DynamoDB. */
export interface Usage {
  calls: AwsCall[]
  bills: Bill[]
}

/** What an AWS call takes within a region, and a function's own work, in milliseconds. */
const callMilliseconds = 5
const ownMilliseconds = ({ of }: Operation) => (of === 'user-login-with-password' ? 100 : 10)
const monthsOfTenYears = 120

/** The number of calls in the longest chain of which each began after the one before had been answered. */
function longestChain(calls: readonly AwsCall[]): number {
  const chains: { endedAt: number; length: number }[] = []
  for (const { startedAt, endedAt } of calls.toSorted((a, b) => a.startedAt - b.startedAt)) {
    const before = chains.filter((chain) => chain.endedAt <= startedAt).map(({ length }) => length)
    chains.push({ endedAt, length: 1 + Math.max(0, ...before) })
  }
  return Math.max(0, ...chains.map(({ length }) => length))
}

/** Columns of an operation: its calls and units, its dollars per million, and what it leaves stored. */
export function describeCost(operation: Operation, model: FunctionModel, { calls, bills }: Usage): Row {
  const { kind } = operation
  const of = (service: string) => calls.filter((call) => call.service === service)
  const signatures = of('KMS').filter(({ name }) => name === 'SignCommand').length
  const chain = longestChain(calls)
  const { readUnits, writeUnits, keptBytes, keptItems } = addBills(bills)
  const charged = dollarsByPrice({
    requests: kind === 'request' ? 1 : 0,
    events: kind === 'event' || kind === 'message' ? 1 : 0,
    mails: of('SESv2').length,
    memory: model.memoryMegabytes,
    milliseconds: chain * callMilliseconds + ownMilliseconds(operation),
    readUnits,
    writeUnits,
    kmsRequests: of('KMS').length,
  })
  const dollars = kind === 'message' ? { ...charged, event: 0 } : charged
  const floor = dollars.gateway + dollars.event + dollars.queue + dollars.invocation
  return {
    calls: calls.length,
    chain,
    'read units': readUnits,
    'write units': writeUnits,
    KMS: of('KMS').length,
    signatures,
    mails: of('SESv2').length,
    '$ per million': round(Object.values(dollars).reduce((sum, amount) => sum + amount, 0)),
    '× floor': floor === 0 ? undefined : round((floor + dollars.read + dollars.write) / floor),
    'kept items': keptItems,
    'kept bytes': keptBytes,
    '$ of ten years': round((keptBytes / 1e9) * 1e6 * storageDollarsPerGigabyteMonth * monthsOfTenYears),
  }
}
