import { expect, test } from 'vitest'
import { compileCondition } from '../../../../../infra/local/aws/iam/condition.ts'

type Context = Record<string, string | string[]>
const key = 'dynamodb:LeadingKeys'
const arn = 'aws:SourceArn'

test.each<[string, string, string[], Context, boolean]>([
  ['StringEquals', key, ['a', 'b'], { [key]: 'b' }, true],
  ['StringEquals', key, ['a'], {}, false],
  ['StringEqualsIfExists', key, ['a'], {}, true],
  ['StringEqualsIfExists', key, ['a'], { [key]: 'b' }, false],
  ['StringNotEquals', key, ['a', 'b'], { [key]: 'c' }, true],
  ['StringNotEquals', key, ['a', 'b'], { [key]: 'b' }, false],
  ['StringNotEquals', key, ['a'], {}, true],
  ['StringLike', key, ['U#*'], { [key]: 'U#1' }, true],
  ['StringLike', key, ['U#?'], { [key]: 'U#12' }, false],
  ['StringLike', key, ['a.c'], { [key]: 'abc' }, false],
  ['ArnLike', arn, ['arn:aws:events:*:*:rule/x'], { [arn]: 'arn:aws:events:eu:1:rule/x' }, true],
  ['ArnEquals', arn, ['arn:aws:events:*:rule/x'], { [arn]: 'arn:aws:events:eu:1:rule/x' }, false],
  ['ArnLike', arn, ['arn:aws:events:eu:1:rule/*'], { [arn]: 'arn:aws:events:eu:1:rule/a:b/c' }, true],
  ['Bool', 'aws:SecureTransport', ['false'], { 'aws:SecureTransport': 'true' }, false],
  ['Null', key, ['true'], {}, true],
  ['Null', key, ['false'], {}, false],
  ['Null', key, ['false'], { [key]: 'a' }, true],
  ['ForAllValues:StringEquals', key, ['a', 'b'], { [key]: ['a', 'b'] }, true],
  ['ForAllValues:StringEquals', key, ['a'], { [key]: ['a', 'b'] }, false],
  ['ForAllValues:StringLike', key, ['a*'], { [key]: ['a1', 'a2'] }, true],
  ['ForAllValues:StringEquals', key, ['a'], {}, true],
  ['ForAnyValue:StringEquals', key, ['a'], { [key]: ['a', 'b'] }, true],
  ['ForAnyValue:StringEquals', key, ['c'], { [key]: ['a', 'b'] }, false],
  ['ForAnyValue:StringEquals', key, ['c'], {}, false],
])(
  'the local IAM’s result for the condition { %s: { %s: %j } } and the request context %j is %s',
  (operator, name, expected, context, meets) => {
    const lower = Object.entries(context).map(([item, value]) => [item.toLowerCase(), value] as const)
    expect(compileCondition(operator, name, expected)(new Map(lower))).toBe(meets)
  },
)

test.each([
  ['DateGreaterThan', key],
  ['ForSomeValues:StringEquals', key],
  ['StringEquals', 'aws:SourceIp'],
  ['StringEquals', 'aws:ResourceTag/'],
  ['StringEquals', 'sqs:Unknown'],
])('the local IAM rejects the condition %s on %s, which it does not emulate', (operator, name) => {
  expect(() => compileCondition(operator, name, ['x'])).toThrow(/not known to the local IAM/)
})
