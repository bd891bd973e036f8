import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { leaveOut } from './leave-out.ts'

const alarm = (name: string, properties: object) => ({
  Type: 'AWS::CloudWatch::Alarm',
  Properties: properties,
  Metadata: { 'aws:cdk:path': `stack/${name}/Resource` },
})
const template = JSON.stringify({
  Resources: {
    A1: alarm('plain', { MetricName: 'Errors' }),
    A2: alarm('share', { Metrics: [] }),
    F1: { Type: 'AWS::Lambda::Function', DependsOn: ['A1', 'A2'] },
  },
})
const hash = (text: string) => createHash('sha256').update(text).digest('hex')

function makeAssembly(): (file: string) => string {
  const directory = mkdtempSync(join(tmpdir(), 'assembly-'))
  writeFileSync(join(directory, 's.template.json'), template)
  writeFileSync(join(directory, 's.assets.json'), JSON.stringify({ files: { [hash(template)]: {} } }))
  writeFileSync(join(directory, 'manifest.json'), JSON.stringify({ url: `s3://${hash(template)}.json` }))
  return (file) => join(directory, file)
}

it('what an emulator cannot create is left out by name, and the template gets another hash', () => {
  const path = makeAssembly()
  expect(leaveOut('ministack', path('.'))).toEqual([
    'left out, because ministack refuses alarms on metric math: share',
  ])
  const shortened = readFileSync(path('s.template.json'), 'utf8')
  const {
    A1: plain,
    A2: share,
    F1: dependent,
  } = (JSON.parse(shortened) as { Resources: Record<string, object> }).Resources
  expect([plain, share, dependent]).toEqual([
    expect.anything(),
    undefined,
    { Type: 'AWS::Lambda::Function', DependsOn: ['A1'] },
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
