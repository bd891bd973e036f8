import { Token } from 'aws-cdk-lib'
import { isDeepStrictEqual } from 'node:util'
import type { Resource, Stacks } from './synthesize.ts'

/** Resource types whose names must be unique across all regions of an account. */
const globalTypes = /^AWS::(CloudFront::|CloudWatch::Dashboard$|IAM::)/

/** Properties that look like names of resources, but need not be unique in an account. */
const notUnique = [
  'AWS::ApiGatewayV2::Stage StageName',
  'AWS::CloudWatch::Alarm MetricName',
  'AWS::IAM::Policy PolicyName',
]

interface Named {
  /** Type and property, for example `AWS::SQS::Queue QueueName`. */
  kind: string
  name: string
  /** The region in which the name must be unique, or `everywhere`. */
  place: string
  owner: string
  isRetained: boolean
}

/**
 * Lists all names in the templates of stacks. Ids of statements in a bus's policy count as names, because
 * they must be unique, too (https://github.com/aws/aws-cdk/issues/29627).
 */
export const namesIn = (stacks: Stacks): Named[] =>
  [...stacks.values()].flatMap(({ stack, resources, outputs }) => {
    const region = Token.isUnresolved(stack.region) ? 'us-east-1' : stack.region
    const add = (kind: string, id: string, value: unknown, resource?: Resource): Named[] => {
      const name = spell(value, region)
      if (name === undefined || notUnique.includes(kind)) return []
      const place = globalTypes.test(resource?.Type ?? '') ? 'everywhere' : region
      const isRetained = (resource?.DeletionPolicy ?? 'Delete') !== 'Delete'
      return [{ kind, name, place, owner: `${stack.stackName} of ${region}, ${id}`, isRetained }]
    }
    return [
      ...Object.entries(resources).flatMap(([id, resource]) =>
        Object.entries({ ...resource.Properties })
          // A CloudFront policy has its name in a nested object, such as `CachePolicyConfig`.
          .flatMap((entry) => (entry[0].endsWith('Config') ? Object.entries(entry[1] as object) : [entry]))
          .filter(([property]) => /Name$|^StatementId$/.test(property))
          .flatMap(([property, value]) => add(`${resource.Type} ${property}`, id, value, resource)),
      ),
      ...Object.entries(outputs).flatMap(([id, { Export }]) => add('Export Name', id, Export?.Name)),
    ]
  })

/** Resolves a name that a template gives as text or `Fn::Join`; undefined if only AWS can resolve a part. */
function spell(value: unknown, region: string): string | undefined {
  if (typeof value !== 'object') return value as string | undefined
  const [separator, parts] = (value as { 'Fn::Join'?: [string, unknown[]] })['Fn::Join'] ?? []
  const text = parts?.map((part) => (isDeepStrictEqual(part, { Ref: 'AWS::Region' }) ? region : part))
  return text?.every((part) => typeof part === 'string') ? text.join(separator) : undefined
}

/** Simulates an AWS account, which refuses a resource if another resource has the same name. */
export class Account {
  private readonly owners = new Map<string, string>()

  /** Creates or updates the stacks. Returns the resource names that other resources have already taken. */
  deploy(stacks: Stacks): string[] {
    return namesIn(stacks).flatMap(({ kind, name, place, owner }) => {
      const key = `${kind} ${name} (${place})`
      const holder = this.owners.get(key) ?? owner
      this.owners.set(key, holder)
      return holder === owner ? [] : [key]
    })
  }

  /** Deletes the stacks. Names of retained resources stay taken. Throws if a stack is protected. */
  destroy(stacks: Stacks): void {
    for (const { stack } of stacks.values())
      if (stack.terminationProtection) throw new Error(`${stack.stackName} is protected from deletion`)
    for (const { kind, name, place, isRetained } of namesIn(stacks)) {
      const key = `${kind} ${name} (${place})`
      if (isRetained) this.owners.set(key, 'no stack')
      else this.owners.delete(key)
    }
  }
}
