import { StartupError } from '../startup-error.ts'
import { type Addresses, deriveApiId, type Identity, identifyResource } from './names.ts'
import type { StackTemplate } from './stack-templates.ts'

/** What `AWS::NoValue` resolves to: the property or list item that holds it disappears. */
const noValue = Symbol('AWS::NoValue')

type Intrinsic = (resolver: Resolver, stack: StackTemplate, argument: unknown) => unknown

const intrinsics: Record<string, Intrinsic> = {
  Ref: (resolver, stack, name) => resolver.reference(stack, asText(name)),
  'Fn::GetAtt': (resolver, stack, argument) => {
    const path = typeof argument === 'string' ? argument.split('.') : resolver.texts(stack, argument)
    const [logicalId = '', ...name] = path
    return resolver.attribute(stack, logicalId, name.join('.'))
  },
  'Fn::Join': (resolver, stack, argument) => {
    const [separator, parts] = asList(argument)
    return resolver.texts(stack, parts).join(asText(separator))
  },
  'Fn::Sub': (resolver, stack, argument) => {
    const [text, variables = {}] = typeof argument === 'string' ? [argument] : asList(argument)
    return resolver.substitute(stack, asText(text), asObject(variables))
  },
  'Fn::Select': (resolver, stack, argument) => {
    const [index, list] = asList(argument)
    const chosen = asList(resolver.resolve(stack, list))[Number(resolver.resolve(stack, index))]
    if (chosen === undefined) throw new StartupError(`Fn::Select of ${stack.name} is out of range`)
    return chosen
  },
  'Fn::Split': (resolver, stack, argument) => {
    const [separator, text] = asList(argument)
    return asText(resolver.resolve(stack, text)).split(asText(separator))
  },
  'Fn::ImportValue': (resolver, stack, argument) =>
    resolver.importValue(asText(resolver.resolve(stack, argument))),
  'Fn::If': (resolver, stack, argument) => {
    const [condition, whenTrue, whenFalse] = asList(argument)
    return resolver.resolve(stack, resolver.holds(stack, asText(condition)) ? whenTrue : whenFalse)
  },
  'Fn::FindInMap': (resolver, stack, argument) =>
    resolver.texts(stack, argument).reduce<unknown>((map, key) => asObject(map)[key], stack.Mappings),
  'Fn::GetAZs': (resolver) => [`${resolver.addresses.region}a`],
  'Fn::Base64': (resolver, stack, argument) =>
    Buffer.from(asText(resolver.resolve(stack, argument))).toString('base64'),
}

/** Replaces the intrinsic functions in the stacks' templates by their values. Throws a `StartupError` naming an unknown one. */
export class Resolver {
  readonly addresses: Addresses
  private readonly identities = new Map<string, Identity>()
  /** The resources that are being named, to notice one whose name depends on itself. */
  private readonly underway = new Set<string>()
  private readonly exports: Map<string, { stack: StackTemplate; value: unknown }>
  private readonly apiUrls: string[]

  /** Resolves over all stacks together, because they import what others export. */
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

  /** A part of a stack's template with every intrinsic function replaced. */
  resolve(stack: StackTemplate, value: unknown): unknown {
    if (Array.isArray(value))
      return value.map((item) => this.resolve(stack, item)).filter((item) => item !== noValue)
    if (!isObject(value)) return value
    const [name = '', ...others] = Object.keys(value)
    if (others.length === 0 && (name === 'Ref' || name.startsWith('Fn::'))) {
      const intrinsic = intrinsics[name]
      if (intrinsic === undefined)
        throw new StartupError(`${stack.name} uses ${name}, which the local stack does not know`)
      return this.toLocalAddress(intrinsic(this, stack, value[name]))
    }
    const members = Object.entries(value).map(([key, member]) => [key, this.resolve(stack, member)] as const)
    return Object.fromEntries(members.filter(([, member]) => member !== noValue))
  }

  /** Whether a condition of the stack holds. */
  holds(stack: StackTemplate, name: string): boolean {
    return this.evaluate(stack, stack.Conditions[name], `condition ${name} of ${stack.name}`)
  }

  /** What other resources see of a resource of the stack. */
  identity(stack: StackTemplate, logicalId: string): Identity {
    const path = `${stack.name}/${logicalId}`
    const known = this.identities.get(path)
    if (known !== undefined) return known
    if (this.underway.has(path))
      throw new StartupError(`cannot tell the name of ${path}: it depends on itself`)
    const resource = stack.Resources[logicalId]
    if (resource === undefined)
      throw new StartupError(`${stack.name} refers to ${logicalId}, which it does not have`)
    this.underway.add(path)
    const property = (name: string) => {
      const value = resource.Properties[name]
      return value === undefined ? undefined : asText(this.resolve(stack, value))
    }
    const identity = identifyResource(
      { stackName: stack.name, logicalId, type: resource.Type, property },
      this.addresses,
    )
    if (identity === undefined)
      throw new StartupError(`cannot tell the name of ${path}: ${resource.Type} is unknown`)
    this.identities.set(path, identity)
    this.underway.delete(path)
    return identity
  }

  /** The value of a `Ref`. */
  reference(stack: StackTemplate, name: string): unknown {
    if (name.startsWith('AWS::')) return this.pseudoParameter(stack, name)
    const parameter = stack.Parameters[name]
    if (parameter === undefined) return this.identity(stack, name).ref
    if (parameter.Default === undefined)
      throw new StartupError(`parameter ${name} of ${stack.name} has no default`)
    return parameter.Default
  }

  /** The value of a `Fn::GetAtt`. */
  attribute(stack: StackTemplate, logicalId: string, name: string): string {
    const value = this.identity(stack, logicalId).attributes[name]
    if (value === undefined)
      throw new StartupError(`cannot tell attribute ${name} of ${stack.name}/${logicalId}`)
    return value
  }

  importValue(name: string): unknown {
    const found = this.exports.get(name)
    if (found === undefined) throw new StartupError(`no stack exports ${name}`)
    return this.resolve(found.stack, found.value)
  }

  /** The value of a `Fn::Sub`. */
  substitute(stack: StackTemplate, text: string, variables: Record<string, unknown>): string {
    return text.replaceAll(/\$\{(!?)([^}]+)\}/g, (_whole, literal: string, name: string) => {
      if (literal !== '') return `\${${name}}`
      if (name in variables) return asText(this.resolve(stack, variables[name]))
      const [logicalId = '', ...attribute] = name.split('.')
      return asText(
        attribute.length === 0
          ? this.reference(stack, logicalId)
          : this.attribute(stack, logicalId, attribute.join('.')),
      )
    })
  }

  /** A list of texts, resolved. */
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
      'AWS::StackId': `arn:aws:cloudformation:${region}:${accountId}:stack/${stack.name}/local`,
      'AWS::NotificationARNs': [],
      'AWS::NoValue': noValue,
    }
    if (!(name in values))
      throw new StartupError(`${stack.name} refers to ${name}, which the local stack does not know`)
    return values[name]
  }

  private evaluate(stack: StackTemplate, condition: unknown, where: string): boolean {
    const [[name, argument] = ['', undefined], ...others] = isObject(condition)
      ? Object.entries(condition)
      : []
    if (name === '' || others.length > 0) throw new StartupError(`${where} is not a condition`)
    if (name === 'Condition') return this.holds(stack, asText(argument))
    const evaluate = (operand: unknown) => this.evaluate(stack, operand, where)
    if (name === 'Fn::And') return asList(argument).every(evaluate)
    if (name === 'Fn::Or') return asList(argument).some(evaluate)
    if (name === 'Fn::Not') return !asList(argument).every(evaluate)
    if (name !== 'Fn::Equals')
      throw new StartupError(`${where} uses ${name}, which the local stack does not know`)
    const [left, right] = asList(argument).map((operand) => this.resolve(stack, operand))
    return left === right
  }

  // Templates also spell out the address that AWS would give an API; it must lead here, too.
  private toLocalAddress(value: unknown): unknown {
    if (typeof value !== 'string') return value
    return this.apiUrls.reduce((text, url) => text.replaceAll(url, this.addresses.apiUrl), value)
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function asObject(value: unknown): Record<string, unknown> {
  if (!isObject(value)) throw new StartupError(`${JSON.stringify(value)} stands where an object is expected`)
  return value
}

function asList(value: unknown): unknown[] {
  if (!Array.isArray(value))
    throw new StartupError(`${JSON.stringify(value)} stands where a list is expected`)
  return value
}

// CloudFormation takes numbers and booleans in place of a string.
function asText(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw new StartupError(`${JSON.stringify(value)} stands where a string is expected`)
}
