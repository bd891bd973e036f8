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

interface PolicyProperties {
  PolicyDocument: { Statement: { Effect: string; Condition?: Record<string, Record<string, unknown>> }[] }
}

interface Template {
  Resources: Record<string, Resource>
}

/** A fault of an emulator, and how a template does without what the emulator has not. */
interface Fault {
  reason: string
  /** Removes it from the template, and returns the names of what it removed. Nothing may need their value. */
  remove: (template: Template) => string[]
}

const faults: Partial<Record<Emulator['name'], Fault[]>> = {
  ministack: [
    {
      reason: 'ministack refuses alarms on metric math',
      remove: resources(
        ({ Type: type, Properties: properties = {} }) =>
          type === 'AWS::CloudWatch::Alarm' && 'Metrics' in properties,
      ),
    },
    {
      reason: 'ministack has no archives of events',
      remove: resources(({ Type: type }) => type === 'AWS::Events::Archive'),
    },
    {
      reason: 'ministack has no composite alarms',
      remove: resources(({ Type: type }) => type === 'AWS::CloudWatch::CompositeAlarm'),
    },
    {
      reason: 'ministack lacks the AWS command line, with which CDK copies files into a bucket',
      remove: resources(({ Type: type }) => type === 'Custom::CDKBucketDeployment'),
    },
    {
      // Without files, the bucket need not be emptied either.
      reason: 'ministack has no AWS SDK for functions that do not bundle it',
      remove: resources(({ Type: type }) => type === 'Custom::S3AutoDeleteObjects'),
    },
    {
      reason: 'ministack has no policies of event buses',
      remove: resources(({ Type: type }) => type === 'AWS::Events::EventBusPolicy'),
    },
    {
      // A condition on a key without a value grants nothing.
      reason: 'ministack has no values for these condition keys of IAM policies',
      remove: conditions(/^(dynamodb:LeadingKeys|events:|kms:)/),
    },
  ],
}

/**
 * Removes from the templates of a CDK assembly what an emulator does not have. Returns a line for each fault
 * that names what was removed.
 */
export function leaveOut(emulator: Emulator['name'], assembly: string): string[] {
  const templates = globSync('*.template.json', { cwd: assembly })
  return (faults[emulator] ?? []).flatMap(({ reason, remove }) => {
    const names = templates.flatMap((file) => removeFrom(join(assembly, file), assembly, remove))
    return names.length === 0
      ? []
      : [`left out, because ${reason}: ${[...new Set(names)].toSorted().join(', ')}`]
  })
}

function removeFrom(path: string, assembly: string, remove: Fault['remove']): string[] {
  const text = readFileSync(path, 'utf8')
  const template = JSON.parse(text) as Template
  const names = remove(template)
  if (names.length === 0) return []
  const shortened = JSON.stringify(template)
  writeFileSync(path, shortened)
  // CDK uploads a template under its hash, and not again if there is one of that name.
  rename(assembly, hashOf(text), hashOf(shortened))
  return names
}

/** Removes resources, and the dependencies on them. */
function resources(concerns: (resource: Resource) => boolean): Fault['remove'] {
  return ({ Resources: all }) => {
    const found = Object.entries(all).filter(([, resource]) => concerns(resource))
    for (const [id] of found) Reflect.deleteProperty(all, id)
    for (const resource of Object.values(all))
      if (resource.DependsOn !== undefined)
        resource.DependsOn = [resource.DependsOn].flat().filter((id) => id in all)
    return found.map(([id, { Metadata: metadata }]) => nameOf(metadata?.['aws:cdk:path'] ?? id))
  }
}

/** Removes conditions on these keys from what the roles of functions allow. */
function conditions(keys: RegExp): Fault['remove'] {
  return ({ Resources: all }) =>
    Object.values(all)
      .filter(({ Type: type }) => type === 'AWS::IAM::Policy')
      .flatMap(
        ({ Properties: properties }) => (properties as unknown as PolicyProperties).PolicyDocument.Statement,
      )
      .filter(({ Effect: effect }) => effect === 'Allow')
      .flatMap(({ Condition: condition = {} }) =>
        Object.values(condition).flatMap((operator) => {
          const found = Object.keys(operator).filter((key) => keys.test(key))
          for (const key of found) Reflect.deleteProperty(operator, key)
          return found
        }),
      )
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
