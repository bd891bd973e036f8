import * as v from 'valibot'
import type { AlarmModel, CompositeAlarmModel } from '../model.ts'
import { refuse } from '../startup-error.ts'
import { Flag, Numeric, type Resource, type TemplateReader, Text, Texts } from './reader.ts'

const Dimensions = v.pipe(
  v.optional(v.array(v.object({ Name: Text, Value: Text })), []),
  v.transform((list) => Object.fromEntries(list.map(({ Name: name, Value: value }) => [name, value]))),
)
const MetricStat = v.object({
  Metric: v.object({ Namespace: Text, MetricName: Text, Dimensions }),
  Period: Numeric,
  Stat: Text,
})
const common = {
  ActionsEnabled: v.optional(Flag, true),
  AlarmActions: Texts,
  AlarmDescription: v.optional(Text, ''),
}
const comparisons = [
  'GreaterThanOrEqualToThreshold',
  'GreaterThanThreshold',
  'LessThanOrEqualToThreshold',
  'LessThanThreshold',
] as const

const Alarm = v.object({
  ...common,
  Namespace: v.optional(Text, ''),
  MetricName: v.optional(Text, ''),
  Dimensions,
  Statistic: v.optional(Text),
  ExtendedStatistic: v.optional(Text, ''),
  Period: v.optional(Numeric, 0),
  Metrics: v.optional(
    v.array(v.object({ Id: Text, Expression: v.optional(Text), MetricStat: v.optional(MetricStat) })),
  ),
  Threshold: Numeric,
  ComparisonOperator: v.picklist(comparisons),
  EvaluationPeriods: Numeric,
  DatapointsToAlarm: v.optional(Numeric),
  TreatMissingData: v.picklist(['breaching', 'notBreaching']),
})
type Alarm = v.InferOutput<typeof Alarm>

const CompositeAlarm = v.object({
  ...common,
  AlarmRule: Text,
  ActionsSuppressor: v.optional(Text),
  ActionsSuppressorWaitPeriod: v.optional(Numeric, 0),
  ActionsSuppressorExtensionPeriod: v.optional(Numeric, 0),
})

/** Reads the alarms on metrics. */
export const readAlarms = (reader: TemplateReader): AlarmModel[] =>
  reader.read('AWS::CloudWatch::Alarm', Alarm).map((resource) => {
    const { id, properties } = resource
    if (properties.DatapointsToAlarm !== undefined)
      refuse(`${id} is raised by some of its periods, which the local stack does not know`)
    return {
      ...describe(resource),
      ...readQueries(id, properties),
      threshold: properties.Threshold,
      comparison: properties.ComparisonOperator,
      evaluationPeriods: properties.EvaluationPeriods,
      missingIsBreaching: properties.TreatMissingData === 'breaching',
    }
  })

/** Reads the alarms on other alarms. */
export const readCompositeAlarms = (reader: TemplateReader): CompositeAlarmModel[] =>
  reader.read('AWS::CloudWatch::CompositeAlarm', CompositeAlarm).map((resource) => {
    const { AlarmRule: rule, ActionsSuppressor: arn, ...properties } = resource.properties
    const suppressor = arn && {
      arn,
      waitSeconds: properties.ActionsSuppressorWaitPeriod,
      extensionSeconds: properties.ActionsSuppressorExtensionPeriod,
    }
    return { ...describe(resource), rule, suppressor: suppressor || undefined }
  })

const describe = ({
  ref,
  attribute,
  properties,
}: Resource<v.InferOutput<v.ObjectSchema<typeof common, undefined>>>) => ({
  name: ref,
  arn: attribute('Arn'),
  description: properties.AlarmDescription,
  notifies: properties.ActionsEnabled && properties.AlarmActions.length > 0,
})

/** Reads what an alarm is on: one metric of its own, or an expression over several. */
function readQueries(id: string, alarm: Alarm): Pick<AlarmModel, 'queries' | 'expression'> {
  if (alarm.Metrics === undefined) {
    const metric = { namespace: alarm.Namespace, name: alarm.MetricName, dimensions: alarm.Dimensions }
    const statistic = alarm.Statistic ?? alarm.ExtendedStatistic
    return {
      queries: [{ id: 'metric', metric, statistic, periodSeconds: alarm.Period }],
      expression: 'metric',
    }
  }
  const [expression, ...others] = alarm.Metrics.flatMap(({ Expression }) => Expression ?? [])
  if (expression === undefined || others.length > 0)
    return refuse(`${id} is not on one expression, which is all that the local stack knows`)
  const queries = alarm.Metrics.flatMap(({ Id, MetricStat: told }) => {
    if (told === undefined) return []
    const { Namespace: namespace, MetricName: name, Dimensions: dimensions } = told.Metric
    return [
      { id: Id, metric: { namespace, name, dimensions }, statistic: told.Stat, periodSeconds: told.Period },
    ]
  })
  return { queries, expression }
}
