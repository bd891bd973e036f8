import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { leaveOut } from './leave-out.ts'

const alarm = (name: string, properties: object) => ({
  Type: 'AWS::CloudWatch::Alarm',
  Properties: properties,
  Metadata: { 'aws:cdk:path': `stack/${name}/Resource` },
})
const policy = (condition: object) => ({
  Type: 'AWS::IAM::Policy',
  Properties: {
    PolicyDocument: {
      Statement: [
        { Effect: 'Allow', Condition: condition },
        { Effect: 'Deny', Condition: { StringEquals: { 'kms:KeyUsage': 'SIGN_VERIFY' } } },
      ],
    },
  },
})
const template = JSON.stringify({
  Resources: {
    A1: alarm('plain', { MetricName: 'Errors' }),
    A2: alarm('share', { Metrics: [] }),
    F1: { Type: 'AWS::Lambda::Function', DependsOn: ['A1', 'A2'] },
    P1: policy({
      'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['USER#*'] },
      Null: { 'dynamodb:LeadingKeys': 'false' },
      StringEquals: { 'kms:KeyUsage': 'SIGN_VERIFY', 'aws:ResourceTag/signing-key': 'service' },
    }),
  },
})
const hash = (text: string) => createHash('sha256').update(text).digest('hex')

function makeAssembly(): (file: string) => string {
  const directory = mkdtempSync(join(tmpdir(), 'assembly-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  writeFileSync(join(directory, 's.template.json'), template)
  writeFileSync(join(directory, 's.assets.json'), JSON.stringify({ files: { [hash(template)]: {} } }))
  writeFileSync(join(directory, 'manifest.json'), JSON.stringify({ url: `s3://${hash(template)}.json` }))
  return (file) => join(directory, file)
}

it('what an emulator cannot create is left out by name, and the template gets another hash', () => {
  const path = makeAssembly()
  expect(leaveOut('ministack', path('.'))).toEqual([
    'left out, because ministack refuses alarms on metric math: share',
    'left out, because ministack has no values for these condition keys of IAM policies: dynamodb:LeadingKeys, kms:KeyUsage',
  ])
  const shortened = readFileSync(path('s.template.json'), 'utf8')
  const {
    A1: plain,
    A2: share,
    F1: dependent,
    P1: permissions,
  } = (JSON.parse(shortened) as { Resources: Record<string, object> }).Resources
  expect([plain, share, dependent, permissions]).toEqual([
    expect.anything(),
    undefined,
    { Type: 'AWS::Lambda::Function', DependsOn: ['A1'] },
    policy({
      'ForAllValues:StringLike': {},
      Null: {},
      StringEquals: { 'aws:ResourceTag/signing-key': 'service' },
    }),
  ])
  for (const file of ['s.assets.json', 'manifest.json']) {
    expect(readFileSync(path(file), 'utf8')).toContain(hash(shortened))
    expect(readFileSync(path(file), 'utf8')).not.toContain(hash(template))
  }
})

it('nothing is left out for an emulator without known faults', () => {
  const path = makeAssembly()
  expect(leaveOut('LocalStack', path('.'))).toEqual([])
  expect(readFileSync(path('s.template.json'), 'utf8')).toBe(template)
})
