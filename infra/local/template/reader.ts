import * as v from 'valibot'
import { refuse } from '../startup-error.ts'
import { type Addresses, identifyResource } from './names.ts'
import { Resolver } from './resolve.ts'
import type { StackTemplate } from './stack-templates.ts'

/** An IAM policy document, with its statements as a list. */
export interface PolicyDocument {
  Version?: string
  Statement: PolicyStatement[]
}

export interface PolicyStatement {
  Sid?: string
  Effect: 'Allow' | 'Deny'
  Action?: string | string[]
  NotAction?: string | string[]
  Resource?: string | string[]
  NotResource?: string | string[]
  Principal?: unknown
  Condition?: Record<string, Record<string, string | string[]>>
}

/** Schema of a string; CloudFormation also accepts numbers and booleans for it. */
export const Text = v.pipe(v.union([v.string(), v.number(), v.boolean()]), v.transform(String))
/** Schema of a number; CloudFormation also accepts a string for it. */
export const Numeric = v.pipe(v.union([v.number(), v.string()]), v.transform(Number), v.finite())
const isTrue = (text: string): boolean => text === 'true'
/** Schema of a boolean, or of a text such as `true`; false if omitted. */
export const Flag = v.optional(v.pipe(Text, v.transform(isTrue)), false)
/** Schema of a property that the local stack does not support, and so refuses. */
export const Unknown = v.optional(v.never('the local stack does not know it'))
/** Schema of a list of strings; empty if omitted. */
export const Texts = v.optional(v.array(Text), [])
/** Schema of a list of tags. Converts the list to a record of the tags' values, keyed by their names. */
export const Tags = v.pipe(
  v.optional(v.array(v.object({ Key: Text, Value: Text })), []),
  v.transform((tags) => Object.fromEntries(tags.map(({ Key: name, Value: value }) => [name, value]))),
)
/** Schema of a policy document; converts the statements to a list, which the policy compiler validates. */
export const Policy = v.pipe(
  v.looseObject({ Statement: v.unknown() }),
  v.transform(({ Statement: statement, ...document }): PolicyDocument => {
    const statements: unknown[] = Array.isArray(statement) ? statement : [statement]
    return { ...document, Statement: statements as PolicyDocument['Statement'] }
  }),
)

/**
 * AWS services whose resources are ignored, because no request or event on the local stack depends on them:
 * monitoring, costs, TLS, DNS, content delivery, and the set-up of mail.
 */
const ignoredServices =
  'ApplicationInsights Budgets CDK CertificateManager CloudFront CloudTrail CloudWatch Logs ResourceGroups Route53 S3 SES SNS WAFv2 XRay'

/** Resource types that are ignored, because the local stack needs at most the names of these resources. */
const ignoredTypes =
  'ApiGatewayV2::ApiMapping ApiGatewayV2::DomainName Lambda::EventInvokeConfig Lambda::Permission SSM::Parameter'

/** A resource of a template. In `properties`, all intrinsic functions are resolved. */
export interface Resource<Properties> {
  /** Unique name `STACK/LOGICALID`, because logical ids repeat between stacks. */
  id: string
  stack: StackTemplate
  properties: Properties
  /** Value of `Ref` for the resource. */
  ref: string
  /** Returns an attribute for `Fn::GetAtt`; '' if the resource does not have it. */
  attribute: (name: string) => string
}

/** Reads the templates of all stacks of a stage as if they were one template. */
export class TemplateReader {
  private readonly stacks: StackTemplate[]
  private readonly resolver: Resolver
  private readonly active: { stack: StackTemplate; logicalId: string; type: string; properties: unknown }[]
  private readonly servedTypes = new Set<string>()

  constructor(stacks: StackTemplate[], addresses: Addresses) {
    this.stacks = stacks
    this.resolver = new Resolver(stacks, addresses)
    this.active = stacks.flatMap((stack) =>
      Object.entries(stack.Resources).map(
        ([logicalId, { Type: type, Properties: properties = {}, Condition }]) =>
          Condition === undefined
            ? { stack, logicalId, type, properties }
            : refuse(`${stack.name}/${logicalId} has a condition, which the local stack does not know`),
      ),
    )
  }

  /** Reads the resources of a type. Throws a `StartupError` for a property that the schema forbids. */
  read<Schema extends v.GenericSchema>(wanted: string, schema: Schema): Resource<v.InferOutput<Schema>>[] {
    this.servedTypes.add(wanted)
    return this.active
      .filter(({ type }) => type === wanted)
      .map(({ stack, logicalId, type, properties }) => {
        const id = `${stack.name}/${logicalId}`
        const resolved = this.resolver.resolve(stack, properties) as Record<string, unknown>
        const parsed = v.safeParse(schema, resolved)
        if (!parsed.success)
          return refuse(`${v.getDotPath(parsed.issues[0]) ?? ''} of ${id}: ${parsed.issues[0].message}`)
        const property = (name: string) => v.parse(v.optional(Text), resolved[name])
        const named = { stackName: stack.name, logicalId, type, property }
        const identity = identifyResource(named, this.resolver.addresses)
        const attribute = (name: string) => identity?.attributes[name] ?? ''
        return { id, stack, properties: parsed.output, ref: identity?.ref ?? '', attribute }
      })
  }

  /** Reads the outputs of all stacks, except those that only pass a value to another stack. */
  outputs(): Record<string, string> {
    const outputs = this.stacks.flatMap((stack) =>
      Object.entries(stack.Outputs)
        .filter(([, { Export }]) => Export?.Name.includes(':ExportsOutput') !== true)
        .map(([name, { Value: value }]) => [name, this.resolver.resolve(stack, value)] as const),
    )
    return v.parse(v.record(v.string(), Text), Object.fromEntries(outputs))
  }

  /** Throws a `StartupError` if a template has a resource that the local stack neither reads nor ignores. */
  refuseUnknown(): void {
    const unknown = this.active.filter(({ type }) => !this.servedTypes.has(type) && !isIgnored(type))
    const names = unknown.map(({ stack, logicalId, type }) => `${stack.name}/${logicalId} (${type})`)
    if (names.length > 0) refuse(`the local stack cannot serve ${names.join(', ')}`)
  }
}

function isIgnored(type: string): boolean {
  const [, service = '', name = ''] = type.split('::')
  return (
    ignoredServices.split(' ').includes(service) || ignoredTypes.split(' ').includes(`${service}::${name}`)
  )
}
