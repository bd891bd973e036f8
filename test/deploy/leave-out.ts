import { createHash } from 'node:crypto'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Emulator } from './find-emulator.ts'

interface Resource {
  Type: string
  Properties?: Record<string, unknown>
  DependsOn?: string | string[]
  Metadata?: { 'aws:cdk:path'?: string }
}

interface Template {
  Resources: Record<string, Resource>
}

/** A fault of an emulator, and the resources that it cannot create. Nothing may need their values. */
interface Fault {
  reason: string
  concerns: (resource: Resource) => boolean
}

const faults: Partial<Record<Emulator['name'], Fault[]>> = {
  ministack: [
    {
      reason: 'ministack refuses alarms on metric math',
      concerns: ({ Type: type, Properties: properties = {} }) =>
        type === 'AWS::CloudWatch::Alarm' && 'Metrics' in properties,
    },
    {
      reason: 'ministack lacks the AWS command line, with which CDK copies files into a bucket',
      concerns: ({ Type: type }) => type === 'Custom::CDKBucketDeployment',
    },
    {
      // Without files, the bucket need not be emptied either.
      reason: 'ministack has no AWS SDK for functions that do not bundle it',
      concerns: ({ Type: type }) => type === 'Custom::S3AutoDeleteObjects',
    },
    {
      reason: 'ministack has no policies of event buses',
      concerns: ({ Type: type }) => type === 'AWS::Events::EventBusPolicy',
    },
  ],
}

/**
 * Removes from the templates of a CDK assembly the resources that an emulator cannot create. Returns a line
 * for each fault that names the resources.
 */
export function leaveOut(emulator: Emulator['name'], assembly: string): string[] {
  const templates = globSync('*.template.json', { cwd: assembly })
  return (faults[emulator] ?? []).flatMap(({ reason, concerns }) => {
    const names = templates.flatMap((file) => removeFrom(assembly, file, concerns))
    return names.length === 0 ? [] : [`left out, because ${reason}: ${names.toSorted().join(', ')}`]
  })
}

function removeFrom(assembly: string, file: string, concerns: Fault['concerns']): string[] {
  const path = join(assembly, file)
  const text = readFileSync(path, 'utf8')
  const template = JSON.parse(text) as Template
  const found = Object.entries(template.Resources).filter(([, resource]) => concerns(resource))
  if (found.length === 0) return []
  for (const [id] of found) Reflect.deleteProperty(template.Resources, id)
  for (const resource of Object.values(template.Resources))
    if (resource.DependsOn !== undefined)
      resource.DependsOn = [resource.DependsOn].flat().filter((id) => id in template.Resources)
  const shortened = JSON.stringify(template)
  writeFileSync(path, shortened)
  // CDK uploads a template under its hash, and not again if there is one of that name.
  rename(assembly, hashOf(text), hashOf(shortened))
  return found.map(([id, { Metadata: metadata }]) => nameOf(metadata?.['aws:cdk:path'] ?? id))
}

/** The name that the stack gives a resource, from the path of its construct: STACK/NAME/… . */
const nameOf = (path: string): string => path.split('/')[1] ?? path

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

function rename(assembly: string, from: string, to: string): void {
  for (const file of globSync('{manifest,*.assets}.json', { cwd: assembly })) {
    const path = join(assembly, file)
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(from, to))
  }
}
