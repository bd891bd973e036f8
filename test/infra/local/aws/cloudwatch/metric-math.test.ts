import { describe, expect, it } from 'vitest'
import { compileMetricMath } from '../../../../../infra/local/aws/cloudwatch/metric-math.ts'

const ids = ['errors', 'requests']

describe('metric math', () => {
  it.each([
    ['errors / unknown', 'unknown is no metric of this alarm'],
    ['errors +', 'ends too early'],
    ['FOO(errors)', 'FOO is no function'],
    ['MAX([errors, requests])', 'MAX is no function'],
    ['errors 1', 'stands behind the end'],
    ['IF(errors, 1)', ') instead of ,'],
    ['FILL(1, 0)', 'FILL takes a time series and a number'],
    ['FILL(errors, requests)', 'FILL takes a time series and a number'],
  ])('refuses %s', (expression, problem) => {
    expect(() => compileMetricMath(expression, ids)).toThrow(problem)
  })

  it.each([
    ['1 + 2', 'scalar'],
    ['IF(1, 2, 3)', 'scalar'],
    ['errors', 'time series'],
    ['FILL(errors, 0)', 'time series'],
    ['IF(requests > 0, 100 * errors / requests, 0)', 'time series'],
  ])('gives %s the type that CloudWatch gives it', (expression, type) => {
    expect(compileMetricMath(expression, ids).type).toBe(type)
  })

  it.each([
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3', 9],
    ['8 - 3 - 2', 3],
    ['8 / 4 / 2', 1],
    ['1 + 1 >= 2', 1],
    ['2 < 1', 0],
    ['1 != 1', 0],
    ['errors + 1', 4],
    ['100 * errors / (errors + 1)', 75],
    ['errors / 0', undefined],
    ['requests', undefined],
    ['requests + 1', undefined],
    ['FILL(requests, 5)', 5],
    ['FILL(errors, 5)', 3],
    ['IF(errors >= 3, 1.5, 2)', 1.5],
    ['IF(errors > 3, 1.5, 2)', 2],
    ['IF(requests > 0, 1, 2)', undefined],
  ])('%s is %s where there are three errors and no data of requests', (expression, value) => {
    const { compute } = compileMetricMath(expression, ids)
    expect(compute((id) => (id === 'errors' ? 3 : undefined))).toBe(value)
  })
})
