import { beforeAll, describe, expect, it } from 'vitest'
import { makeBundleDirectories } from '../../support/bundle-directories.ts'
import { checkMetricMath, checkSearch } from './metric-math.ts'
import { ofType, type Stacks, synthesizeUnchecked } from './synthesize.ts'

let stacks: Stacks

beforeAll(async () => {
  makeBundleDirectories()
  stacks = await synthesizeUnchecked('prod')
})

interface MetricQuery {
  Id: string
  Expression?: string
}

/** Every expression of an alarm, with the ids that it may use. */
const alarmExpressions = (): { alarm: string; expression: string; ids: string[] }[] =>
  ofType(stacks, 'AWS::CloudWatch::Alarm').flatMap(({ id: alarm, resource }) => {
    const queries = (resource.Properties['Metrics'] ?? []) as MetricQuery[]
    const ids = queries.map(({ Id }) => Id)
    return queries.flatMap(({ Expression }) =>
      Expression === undefined ? [] : [{ alarm, expression: Expression, ids }],
    )
  })

/** Every search of the dashboard. */
function dashboardSearches(): string[] {
  const text = ofType(stacks, 'AWS::CloudWatch::Dashboard')
    .map(({ resource }) => JSON.stringify(resource.Properties['DashboardBody']))
    .join('')
  return [...text.matchAll(/SEARCH\('.*?', '\w+', \d+\)/g)].map(([search]) => search.replaceAll(/\\+"/g, '"'))
}

it('an alarm has an expression that CloudWatch refuses, so that the stack cannot be created', () => {
  const expressions = alarmExpressions()
  expect(expressions).not.toEqual([])
  for (const { alarm, expression, ids } of expressions)
    expect(checkMetricMath(expression, ids), `${alarm}: ${expression}`).toBe('time series')
})

it('a search of the dashboard leaves a name with other characters than letters and digits unquoted', () => {
  const searches = dashboardSearches()
  expect(searches.length).toBeGreaterThan(2)
  for (const search of searches) expect(() => checkSearch(search), search).not.toThrow()
})

it('a stack exports the name of an endpoint’s or event’s resource, which then cannot be removed', () => {
  const exported = [...stacks].flatMap(([name, { outputs }]) =>
    Object.keys(outputs)
      .filter((output) => output.startsWith('ExportsOutput'))
      .map((output) => `${name} ${output.replaceAll(/ExportsOutput(Ref|FnGetAtt)|[0-9A-F]{8}/g, '')}`),
  )
  expect(exported.toSorted()).toEqual(
    [
      'api Api',
      'data MacKeyArn',
      'data TableArn',
      'data Table',
      'data TotpKeyArn',
      'intake Bus',
      'intake BusArn',
    ].toSorted(),
  )
})

describe('the grammar by which expressions are checked', () => {
  it.each([
    ['100 * errors / MAX([requests, 1])', 'an array mixes time series and scalars'],
    ['errors / unknown', 'unknown is no metric of this alarm'],
    ['errors +', 'ends too early'],
    ['FOO(errors)', 'FOO is no function'],
    ['errors 1', 'stands behind the end'],
  ])('accepts %s', (expression, problem) => {
    expect(() => checkMetricMath(expression, ['errors', 'requests'])).toThrow(problem)
  })

  it.each([
    ['1 + 2', 'scalar'],
    ['IF(requests > 0, 100 * errors / requests, 0)', 'time series'],
    ['SUM([errors, requests])', 'time series'],
    ['MAX(errors)', 'scalar'],
    ['[errors, requests]', 'array'],
  ])('takes %s for another type than CloudWatch does', (expression, type) => {
    expect(checkMetricMath(expression, ['errors', 'requests'])).toBe(type)
  })

  it.each([
    `SEARCH('{prod-account-service,method} MetricName="SignIns"', 'Sum', 300)`,
    `SEARCH('{"prod-account-service",detail_type} MetricName="Events"', 'Sum', 300)`,
  ])('accepts the unquoted name in %s', (search) => {
    expect(() => checkSearch(search)).toThrow('needs quotes')
  })
})
