import { dateToTag } from '@smithy/core/cbor'
import * as v from 'valibot'
import { cborService, defineOperation, jsonService, type Operation, type Service } from '../wire/operation.ts'
import type { AlarmView, CloudWatch } from './cloudwatch.ts'

const Types = v.picklist(['MetricAlarm', 'CompositeAlarm'])
const DescribeAlarmsInput = v.object({
  AlarmNames: v.optional(v.array(v.string())),
  AlarmNamePrefix: v.optional(v.string(), ''),
  AlarmTypes: v.optional(v.array(Types), ['MetricAlarm']),
  StateValue: v.optional(v.picklist(['OK', 'ALARM', 'INSUFFICIENT_DATA'])),
})

/** Writes an instant, epoch milliseconds, in a protocol's own way. */
type WriteInstant = (instant: number) => unknown

const target = 'GraniteServiceVersion20100801'

/** CloudWatch's operation DescribeAlarms, in the protocols of the AWS SDKs and of the AWS command line. */
export const alarmServices = (cloudwatch: CloudWatch): Service[] => [
  jsonService(
    target,
    'application/x-amz-json-1.0',
    alarmOperations(cloudwatch, (instant) => instant / 1_000),
  ),
  cborService(
    target,
    alarmOperations(cloudwatch, (instant) => dateToTag(new Date(instant))),
  ),
]

/** DescribeAlarms, in one page. */
const alarmOperations = (cloudwatch: CloudWatch, write: WriteInstant): Record<string, Operation> => ({
  DescribeAlarms: defineOperation(
    DescribeAlarmsInput,
    () => ({ action: 'cloudwatch:DescribeAlarms', resource: '*' }),
    ({ AlarmNames, AlarmNamePrefix, AlarmTypes, StateValue }) => {
      const list = (type: v.InferOutput<typeof Types>) =>
        cloudwatch
          .alarms()
          .filter(({ alarm }) => AlarmTypes.includes(type) && type === typeOf(alarm))
          .filter(({ alarm: { name } }) => AlarmNames?.includes(name) ?? name.startsWith(AlarmNamePrefix))
          .filter((view) => StateValue === undefined || StateValue === stateOf(view))
          .map((view) => describe(view, write))
      return { MetricAlarms: list('MetricAlarm'), CompositeAlarms: list('CompositeAlarm') }
    },
  ),
})

const typeOf = (alarm: AlarmView['alarm']) => ('rule' in alarm ? 'CompositeAlarm' : 'MetricAlarm')
const stateOf = ({ raised }: AlarmView) => (raised ? 'ALARM' : 'OK')

const describe = (view: AlarmView, write: WriteInstant) => ({
  AlarmName: view.alarm.name,
  AlarmArn: view.alarm.arn,
  AlarmDescription: view.alarm.description,
  StateValue: stateOf(view),
  StateUpdatedTimestamp: write(view.since),
})
