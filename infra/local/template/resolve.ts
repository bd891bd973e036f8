import { refuse } from '../startup-error.ts'
import { type Addresses, deriveApiId, type Identity, identifyResource } from './names.ts'
import type { StackTemplate } from './stack-templates.ts'

/** The value of `AWS::NoValue`, which removes the property or list item that contains it. */
const noValue = Symbol('AWS::NoValue')

type Intrinsic = (resolver: Resolver, stack: StackTemplate, argument: unknown) => unknown

const intrinsics: Record<string, Intrinsic> = {
  Ref: (resolver, stack, name) => resolver.reference(stack, asText(name)),
  'Fn::GetAtt': (resolver, stack, argument) => {
    const [logicalId = '', name = ''] = resolver.texts(stack, argument)
    return resolver.attribute(stack, logicalId, name)
  },
  'Fn::Join': (resolver, stack, argument) => {
    const [separator, parts] = asList(argument)
    return resolver.texts(stack, parts).join(asText(separator))
  },
  'Fn::Sub': (resolver, stack, text) =>
    asText(text).replaceAll(/\$\{([^}]+)\}/g, (_whole, name: string) =>
      asText(resolver.reference(stack, name)),
    ),
  'Fn::ImportValue': (resolver, stack, argument) =>
    resolver.importValue(asText(resolver.resolve(stack, argument))),
}

/** Replaces intrinsic functions with their values. Throws a `StartupError` that names an unsupported one. */
export class Resolver {
  readonly addresses: Addresses
  private readonly identities = new Map<string, Identity>()
  /** Resources whose name is being determined, to detect a name that depends on itself. */
  private readonly underway = new Set<string>()
  private readonly exports: Map<string, { stack: StackTemplate; value: unknown }>
  private readonly apiUrls: string[]

  /** Resolves all stacks together, because they import each other's exports. */
  constructor(stacks: StackTemplate[], addresses: Addresses) {
    this.addresses = addresses
    this.exports = new Map(
      stacks.flatMap((stack) =>
        Object.values(stack.Outputs).flatMap(({ Export, Value: value }) =>
          Export === undefined ? [] : [[Export.Name, { stack, value }]],
        ),
      ),
    )
    this.apiUrls = stacks.flatMap((stack) =>
      Object.entries(stack.Resources)
        .filter(([, { Type: type }]) => type === 'AWS::ApiGatewayV2::Api')
        .map(([logicalId]) => deriveApiId({ stackName: stack.name, logicalId }))
        .map((id) => `https://${id}.execute-api.${addresses.region}.amazonaws.com`),
    )
  }

  /** Resolves every intrinsic function in a part of a stack's template. */
  resolve(stack: StackTemplate, value: unknown): unknown {
    if (Array.isArray(value))
      return value.map((item) => this.resolve(stack, item)).filter((item) => item !== noValue)
    if (!isObject(value)) return value
    const [name = '', ...others] = Object.keys(value)
    if (others.length === 0 && (name === 'Ref' || name.startsWith('Fn::'))) {
      const intrinsic =
        intrinsics[name] ?? refuse(`${stack.name} uses ${name}, which the local stack does not know`)
      return this.toLocalAddress(intrinsic(this, stack, value[name]))
    }
    const members = Object.entries(value).map(([key, member]) => [key, this.resolve(stack, member)] as const)
    return Object.fromEntries(members.filter(([, member]) => member !== noValue))
  }

  /** Returns the `Ref` value and the attributes of a resource in the stack. */
  identity(stack: StackTemplate, logicalId: string): Identity {
    const path = `${stack.name}/${logicalId}`
    const known = this.identities.get(path)
    if (known !== undefined) return known
    if (this.underway.has(path)) refuse(`cannot tell the name of ${path}: it depends on itself`)
    const { Type: type, Properties: properties = {} } =
      stack.Resources[logicalId] ?? refuse(`${stack.name} refers to ${logicalId}, which it does not have`)
    this.underway.add(path)
    const property = (name: string) =>
      properties[name] === undefined ? undefined : asText(this.resolve(stack, properties[name]))
    const identity =
      identifyResource({ stackName: stack.name, logicalId, type, property }, this.addresses) ??
      refuse(`cannot tell the name of ${path}: ${type} is unknown`)
    this.identities.set(path, identity)
    this.underway.delete(path)
    return identity
  }

  /** Resolves a `Ref`. */
  reference(stack: StackTemplate, name: string): unknown {
    if (name.startsWith('AWS::')) return this.pseudoParameter(stack, name)
    return this.identity(stack, name).ref
  }

  /** Resolves a `Fn::GetAtt`. */
  attribute(stack: StackTemplate, logicalId: string, name: string): string {
    const { attributes } = this.identity(stack, logicalId)
    return attributes[name] ?? refuse(`cannot tell attribute ${name} of ${stack.name}/${logicalId}`)
  }

  importValue(name: string): unknown {
    const { stack, value } = this.exports.get(name) ?? refuse(`no stack exports ${name}`)
    return this.resolve(stack, value)
  }

  /** Resolves a list of strings. */
  texts(stack: StackTemplate, value: unknown): string[] {
    return asList(this.resolve(stack, value)).map(asText)
  }

  private pseudoParameter(stack: StackTemplate, name: string): unknown {
    const { region, accountId } = this.addresses
    const values: Record<string, unknown> = {
      'AWS::Region': region,
      'AWS::AccountId': accountId,
      'AWS::Partition': 'aws',
      'AWS::URLSuffix': 'amazonaws.com',
      'AWS::StackName': stack.name,
      'AWS::NoValue': noValue,
    }
    return values[name] ?? refuse(`${stack.name} refers to ${name}, which the local stack does not know`)
  }

  // Replaces the API address that AWS would assign with the local one, where a template contains it as text.
  private toLocalAddress(value: unknown): unknown {
    if (typeof value !== 'string') return value
    return this.apiUrls.reduce((text, url) => text.replaceAll(url, this.addresses.apiUrl), value)
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const refuseShape = (value: unknown, expected: string): never =>
  refuse(`${JSON.stringify(value)} stands where ${expected} is expected`)

const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : refuseShape(value, 'a list'))

// Converts a value to a string, because CloudFormation also accepts numbers and booleans as strings.
const asText = (value: unknown): string =>
  ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : refuseShape(value, 'a string')
