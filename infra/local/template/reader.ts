import * as v from 'valibot'
import type { PolicyDocument } from '../model.ts'
import { refuse, StartupError } from '../startup-error.ts'
import { type Addresses, identifyResource } from './names.ts'
import { Resolver } from './resolve.ts'
import type { StackTemplate } from './stack-templates.ts'

/** CloudFormation takes numbers and booleans in place of a string. */
export const Text = v.pipe(v.union([v.string(), v.number(), v.boolean()]), v.transform(String))
/** CloudFormation takes a string in place of a number. */
export const Numeric = v.pipe(v.union([v.number(), v.string()]), v.transform(Number), v.finite())
/** A boolean or its name; false where it is omitted. */
export const Flag = v.optional(
  v.pipe(
    Text,
    v.transform((text) => text === 'true'),
  ),
  false,
)
/** A list of strings; empty where it is omitted. */
export const Texts = v.optional(v.array(Text), [])
/** A policy document, whose statements become a list. They are checked when policies are evaluated. */
export const Policy = v.pipe(
  v.looseObject({ Statement: v.unknown() }),
  v.transform(({ Statement: statement, ...document }): PolicyDocument => {
    const statements: unknown[] = Array.isArray(statement) ? statement : [statement]
    return { ...document, Statement: statements as PolicyDocument['Statement'] }
  }),
)

/** Services that no request and no event depends on: they watch, bill, encrypt in transit or publish. */
const ignoredServices =
  'ApplicationInsights Budgets CDK CertificateManager CloudFront CloudTrail CloudWatch CodeDeploy Logs ResourceGroups Route53 S3 SES SNS WAFv2 XRay'

/** Further types that make no difference here, or that need no more than their name. */
const ignoredTypes =
  'ApiGatewayV2::ApiMapping ApiGatewayV2::DomainName Events::Archive Events::EventBusPolicy Lambda::Alias Lambda::EventInvokeConfig Lambda::Permission Lambda::Version SSM::Parameter'

/** A resource with every intrinsic of its properties resolved. */
export interface Resource<Properties> {
  /** `STACK/LOGICALID`: logical ids alone repeat between stacks. */
  id: string
  stack: StackTemplate
  properties: Properties
  /** What `Ref` gives. */
  ref: string
  /** What `Fn::GetAtt` gives; empty where the type has no such attribute. */
  attribute: (name: string) => string
}

/** All stacks of a stage, read as one. */
export class TemplateReader {
  private readonly stacks: StackTemplate[]
  private readonly resolver: Resolver
  private readonly active: { stack: StackTemplate; logicalId: string; type: string; properties: unknown }[]
  private readonly servedTypes = new Set<string>()

  constructor(stacks: StackTemplate[], addresses: Addresses) {
    this.stacks = stacks
    this.resolver = new Resolver(stacks, addresses)
    this.active = stacks.flatMap((stack) =>
      Object.entries(stack.Resources)
        .filter(([, { Condition: name }]) => name === undefined || this.resolver.holds(stack, name))
        .map(([logicalId, { Type: type, Properties: properties = {} }]) => ({
          stack,
          logicalId,
          type,
          properties,
        })),
    )
  }

  /**
   * The resources of a type with the properties that the schema names. Throws a `StartupError` for a property
   * that does not fit.
   */
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

  /** The outputs of every stack, without those that only hand a value to another stack. */
  outputs(): Record<string, string> {
    const outputs = this.stacks.flatMap((stack) =>
      Object.entries(stack.Outputs)
        .filter(([, { Export }]) => Export?.Name.includes(':ExportsOutput') !== true)
        .map(([name, { Value: value }]) => [name, this.tryToResolve(stack, value)] as const),
    )
    const known = outputs.filter(([, value]) => value !== undefined)
    return v.parse(v.record(v.string(), Text), Object.fromEntries(known))
  }

  /** Throws a `StartupError` naming every resource of a type that was never read and is not irrelevant. */
  refuseUnknown(): void {
    const unknown = this.active.filter(({ type }) => !this.servedTypes.has(type) && !isIgnored(type))
    const names = unknown.map(({ stack, logicalId, type }) => `${stack.name}/${logicalId} (${type})`)
    if (names.length > 0) refuse(`the local stack cannot serve ${names.join(', ')}`)
  }

  // An output may name what the local stack leaves out, such as a distribution's domain name.
  private tryToResolve(stack: StackTemplate, value: unknown): unknown {
    try {
      return this.resolver.resolve(stack, value)
    } catch (error) {
      if (error instanceof StartupError) return undefined
      throw error
    }
  }
}

function isIgnored(type: string): boolean {
  const [, service = '', name = ''] = type.split('::')
  return (
    ignoredServices.split(' ').includes(service) || ignoredTypes.split(' ').includes(`${service}::${name}`)
  )
}
