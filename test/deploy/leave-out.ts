import { createHash } from 'node:crypto'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

interface Resource {
  Type: string
  Properties?: Record<string, unknown>
  DependsOn?: string | string[]
  Metadata?: { 'aws:cdk:path'?: string }
}
type Resources = Record<string, Resource>

/** Resource types that ministack cannot create, and why. No other resource is allowed to reference them. */
const absentTypes: Record<string, string> = {
  'AWS::Events::Archive': 'ministack has no archives of events',
  'AWS::CloudWatch::CompositeAlarm': 'ministack has no composite alarms',
  'Custom::CDKBucketDeployment':
    'ministack lacks the AWS command line, with which CDK copies files into a bucket',
  // This resource empties a bucket. The bucket has no files here, because CDKBucketDeployment is left out.
  'Custom::S3AutoDeleteObjects': 'ministack has no AWS SDK for functions that do not bundle it',
  'AWS::Events::EventBusPolicy': 'ministack has no policies of event buses',
}
/** IAM condition keys for which ministack has no values: a statement with such a key would grant nothing. */
const absentKeys = /^(dynamodb:LeadingKeys|events:|kms:)/

/** The reason to leave a resource out; undefined if ministack can create the resource. */
const faultOf = ({ Type: type, Properties: properties = {} }: Resource): string | undefined =>
  type === 'AWS::CloudWatch::Alarm' && 'Metrics' in properties
    ? 'ministack refuses alarms on metric math'
    : absentTypes[type]

/**
 * Reduces the templates of a CDK assembly to what ministack supports. Returns the names of the removed parts,
 * in one line for each reason.
 */
export function leaveOut(assembly: string): string[] {
  const removed = globSync('*.template.json', { cwd: assembly }).flatMap((file) => {
    const path = join(assembly, file)
    const text = readFileSync(path, 'utf8')
    const template = JSON.parse(text) as { Resources: Resources }
    const found = [...removeResources(template.Resources), ...removeConditions(template.Resources)]
    const shortened = JSON.stringify(template)
    writeFileSync(path, shortened)
    // The hash is the file name of the upload, and CDK does not upload a name that already exists.
    renameAsset(assembly, hashOf(text), hashOf(shortened))
    return found
  })
  return [...Map.groupBy(removed, ({ reason }) => reason)].map(([reason, found]) => {
    const names = new Set(found.map(({ name }) => name))
    return `left out, because ${reason}: ${[...names].toSorted().join(', ')}`
  })
}

function removeResources(all: Resources) {
  const found = Object.entries(all).flatMap(([id, resource]) => {
    const reason = faultOf(resource)
    // A construct's path is `STACK/CONSTRUCT/...`.
    const name = resource.Metadata?.['aws:cdk:path']?.split('/')[1] ?? id
    return reason === undefined ? [] : [{ id, name, reason }]
  })
  for (const { id } of found) Reflect.deleteProperty(all, id)
  for (const resource of Object.values(all))
    if (resource.DependsOn !== undefined)
      resource.DependsOn = [resource.DependsOn].flat().filter((id) => id in all)
  return found
}

/** Removes, from the `Allow` statements of IAM policies, the conditions that ministack cannot check. */
function removeConditions(all: Resources) {
  const reason = 'ministack has no values for these condition keys of IAM policies'
  return Object.values(all)
    .filter(({ Type: type }) => type === 'AWS::IAM::Policy')
    .flatMap(({ Properties: properties }) => {
      const { PolicyDocument: policy } = properties as {
        PolicyDocument: { Statement: { Effect: string; Condition?: Record<string, object> }[] }
      }
      return policy.Statement.filter(({ Effect: effect }) => effect === 'Allow')
    })
    .flatMap(({ Condition: condition = {} }) =>
      Object.values(condition).flatMap((operator) => {
        const found = Object.keys(operator).filter((key) => absentKeys.test(key))
        for (const key of found) Reflect.deleteProperty(operator, key)
        return found.map((name) => ({ name, reason }))
      }),
    )
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

function renameAsset(assembly: string, from: string, to: string): void {
  for (const file of globSync('{manifest,*.assets}.json', { cwd: assembly })) {
    const path = join(assembly, file)
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(from, to))
  }
}
