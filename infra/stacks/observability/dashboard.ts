import { GraphWidget, type IMetric, MathExpression } from 'aws-cdk-lib/aws-cloudwatch'
import { unmatchedQueueName } from '../../event-patterns.ts'
import { deadLetterMetric, type Observed } from './metrics.ts'

/** The graphs of a stage's dashboard, row by row. Up to 50 metrics cost nothing (CloudWatch pricing). */
export function dashboardRows(props: Observed): GraphWidget[][] {
  const { config, intake } = props
  const { api } = props.api
  const sumBy = (dimensions: string[], metricName: string) =>
    new MathExpression({
      // CloudWatch needs quotes around names with characters other than letters and digits.
      expression: `SEARCH('{"${[config.serviceName, ...dimensions].join('","')}"} MetricName="${metricName}"', 'Sum', 300)`,
      label: '',
      usingMetrics: {},
    })
  const graph = (title: string, left: IMetric[]) => new GraphWidget({ title, left })
  return [
    [
      graph('Requests and errors', [api.metricCount(), api.metricClientError(), api.metricServerError()]),
      graph(
        'Latency',
        ['p50', 'p90', 'p99'].map((statistic) => api.metricLatency({ statistic })),
      ),
    ],
    [
      graph('Sign-ins', [sumBy(['method'], 'SignIns')]),
      graph('Failures by name', [sumBy(['failure'], 'Failures')]),
      graph('Unavailable by cause', [sumBy(['cause'], 'Unavailable')]),
      graph('Events by outcome', [sumBy(['detail_type', 'outcome'], 'Events')]),
    ],
    [
      graph(
        'Dead letters',
        [...intake.deadLetterQueueNames, unmatchedQueueName].map((name) => deadLetterMetric(config, name)),
      ),
    ],
  ]
}
