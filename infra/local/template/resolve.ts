import { isObject } from '../../../shared/is-object.ts'
import { refuse } from '../startup-error.ts'
import { type Addresses, type Identity, identifyResource } from './names.ts'
import type { StackTemplate } from './stack-templates.ts'

/** Replaces intrinsic functions with their values. Throws a `StartupError` that names any unsupported one. */
export class Resolver {
  readonly addresses: Addresses
  private readonly identities = new Map<string, Identity>()
  private readonly underway = new Set<string>()
  private readonly exports: Map<string, { stack: StackTemplate; value: unknown }>

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
  }

  /** Resolves every intrinsic function in a part of a stack's template. */
  resolve(stack: StackTemplate, value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.resolve(stack, item))
    if (!isObject(value)) return value
    const [name = '', ...others] = Object.keys(value)
    if (others.length === 0 && (name === 'Ref' || name.startsWith('Fn::')))
      return this.evaluate(stack, name, value[name])
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, this.resolve(stack, member)] as const),
    )
  }

  private evaluate(stack: StackTemplate, intrinsic: string, argument: unknown): unknown {
    switch (intrinsic) {
      case 'Ref':
        return this.reference(stack, asText(argument))
      case 'Fn::GetAtt': {
        const [logicalId = '', name = ''] = this.texts(stack, argument)
        const { attributes } = this.identity(stack, logicalId)
        return attributes[name] ?? refuse(`cannot tell attribute ${name} of ${stack.name}/${logicalId}`)
      }
      case 'Fn::Join': {
        const [separator, parts] = asList(argument)
        const text = this.texts(stack, parts).join(asText(separator))
        // Templates put `https://` before a bucket's address. A local address already begins with `http://`.
        return text.replace(/^https:\/\/(?=http:)/, '')
      }
      case 'Fn::Sub':
        return asText(argument).replaceAll(/\$\{([^}]+)\}/g, (_whole, name: string) =>
          this.reference(stack, name),
        )
      case 'Fn::ImportValue': {
        const name = asText(this.resolve(stack, argument))
        const exported = this.exports.get(name) ?? refuse(`no stack exports ${name}`)
        return this.resolve(exported.stack, exported.value)
      }
      default:
        return refuse(`${stack.name} uses ${intrinsic}, which the local stack does not know`)
    }
  }

  private identity(stack: StackTemplate, logicalId: string): Identity {
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

  private reference(stack: StackTemplate, name: string): string {
    if (!name.startsWith('AWS::')) return this.identity(stack, name).ref
    const { region, accountId } = this.addresses
    const values: Record<string, string> = {
      'AWS::Region': region,
      'AWS::AccountId': accountId,
      'AWS::Partition': 'aws',
      'AWS::URLSuffix': 'amazonaws.com',
    }
    return values[name] ?? refuse(`${stack.name} refers to ${name}, which the local stack does not know`)
  }

  private texts(stack: StackTemplate, value: unknown): string[] {
    return asList(this.resolve(stack, value)).map(asText)
  }
}

const refuseShape = (value: unknown, expected: string): never =>
  refuse(`${JSON.stringify(value)} stands where ${expected} is expected`)

const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : refuseShape(value, 'a list'))

// Converts a value to a string: CloudFormation also accepts a number or a boolean in place of a string.
const asText = (value: unknown): string =>
  ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : refuseShape(value, 'a string')
