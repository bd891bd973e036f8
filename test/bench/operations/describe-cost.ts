import type { FunctionModel } from '../../../infra/local/model.ts'
import { dollarsByPrice, storageDollarsPerGigabyteMonth } from '../../infra/capacity/prices.ts'
import { addBills } from '../../support/bill-call.ts'
import { type Row, round } from '../report/table.ts'
import { type AwsCall, longestChain } from '../stack/aws-call.ts'
import type { Usage } from './measure-operations.ts'
import type { Operation } from './operations.ts'

/** What an AWS call takes within a region, in milliseconds. */
const callMilliseconds = 5
/** Memory at which Lambda gives a whole processor (AWS: Configure Lambda function memory). */
const wholeProcessorMegabytes = 1769
const monthsOfTenYears = 120

/**
 * Columns of an operation: its calls and units, its dollars per million by service, and what it leaves
 * stored.
 */
export function describeCost({ kind, title }: Operation, model: FunctionModel, { calls, cpu }: Usage): Row {
  const of = (service: AwsCall['service']) => calls.filter((call) => call.service === service)
  const signatures = of('kms').filter(({ operation }) => operation === 'Sign').length
  const chain = longestChain(calls)
  const { readUnits, writeUnits, keptBytes, keptItems } = addBills(calls)
  const slowdown = Math.max(1, wholeProcessorMegabytes / model.memoryMegabytes)
  const charged = dollarsByPrice({
    title,
    requests: kind === 'request' ? 1 : 0,
    events: kind === 'event' || kind === 'message' ? 1 : 0,
    mails: of('ses').length,
    memory: model.memoryMegabytes,
    milliseconds: chain * callMilliseconds + cpu * slowdown,
    calls: of('dynamodb').length,
    readUnits,
    writeUnits,
    signatures,
    symmetric: of('kms').length - signatures,
  })
  const dollars = kind === 'message' ? { ...charged, event: 0 } : charged
  const dynamodb = dollars.read + dollars.write
  const floor = dollars.gateway + dollars.event + dollars.queue + dollars.invocation
  return {
    calls: calls.length,
    chain,
    'read units': readUnits,
    'write units': writeUnits,
    KMS: of('kms').length,
    'CPU ms': round(cpu, 3),
    '$ per million': round(Object.values(dollars).reduce((sum, amount) => sum + amount, 0)),
    gateway: dollars.gateway,
    lambda: round(dollars.invocation + dollars.gigabyteSecond),
    dynamodb: round(dynamodb),
    kms: dollars.kms,
    'events, queues': round(dollars.event + dollars.queue),
    mail: dollars.mail,
    logs: round(dollars.logGigabyte),
    '× floor': round((floor + dynamodb) / floor),
    'kept items': keptItems,
    'kept bytes': keptBytes,
    '$ of ten years': round((keptBytes / 1e9) * 1e6 * storageDollarsPerGigabyteMonth * monthsOfTenYears),
  }
}
