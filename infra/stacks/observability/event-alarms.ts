import { Metric } from 'aws-cdk-lib/aws-cloudwatch'
import { unmatchedQueueName, unmatchedRuleName } from '../../event-patterns.ts'
import { events } from '../../events.ts'
import { eventName } from '../../names.ts'
import type { UnnamedAlarm } from './journeys.ts'
import { deadLetterMetric, type Observed, period, queueMetric } from './metrics.ts'

/** The alarms on late messages, dead letters, events that no rule matches, and lost events. */
export const eventAlarms = ({ config, intake }: Observed): UnnamedAlarm[] => [
  ...intake.deadLetterQueueNames.map((deadLetters): UnnamedAlarm => {
    const queue = deadLetters.replace('-dead-letters', '')
    return {
      id: `${queue.replace(/\.fifo$/, '')}-late`,
      journey: 'events',
      meaning: 'A message has waited in a queue for more than a quarter of an hour.',
      runbook: 'late-messages',
      metric: queueMetric(config, queue, 'ApproximateAgeOfOldestMessage'),
      threshold: 900,
    }
  }),
  // Alarms on events that EventBridge could put neither into a rule's queue nor into the rule's dead-letter
  // queue. The rule `unmatched` has no dead-letter queue, so its alarm counts all failed deliveries.
  ...[...events.map(({ detailType }) => eventName(detailType)), unmatchedRuleName].map((rule) => ({
    id: `${rule}-lost`,
    journey: 'events' as const,
    meaning: 'EventBridge could put an event neither into its queue nor into the dead letters.',
    runbook: 'lost-events',
    metric: new Metric({
      namespace: 'AWS/Events',
      metricName: rule === unmatchedRuleName ? 'FailedInvocations' : 'InvocationsFailedToBeSentToDlq',
      dimensionsMap: { EventBusName: config.serviceName, RuleName: config.namePrefix + rule },
      statistic: 'Sum',
      period,
    }),
    threshold: 1,
  })),
  ...intake.deadLetterQueueNames.map((name) => ({
    id: name.replace(/\.fifo$/, ''),
    journey: 'events' as const,
    meaning: 'An event was rejected or could not be applied.',
    runbook: 'dead-letters',
    metric: deadLetterMetric(config, name),
    threshold: 1,
  })),
  {
    id: unmatchedQueueName,
    journey: 'events',
    meaning: 'The bus got an event that no rule takes: it is unknown, or its source may not send it.',
    runbook: 'unmatched-events',
    metric: deadLetterMetric(config, unmatchedQueueName),
    threshold: 1,
  },
]
