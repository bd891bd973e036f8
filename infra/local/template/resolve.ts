import { StartupError } from '../startup-error.ts'
import { type Addresses, deriveApiId, identities, type Identity } from './identity.ts'
import { evaluateCondition } from './conditions.ts'
import type { StackTemplate, TemplateResource } from './read-assembly.ts'
import { asList, asProperties, asText, isProperties } from './values.ts'

/** Replaces every intrinsic function in a part of a stack's template by its value. */
export interface Resolver {
  resolve: (stack: StackTemplate, value: unknown) => unknown
  /** The resources whose condition holds. */
  activeResources: (stack: StackTemplate) => [logicalId: string, resource: TemplateResource][]
}

/** A resolver over all stacks together, so that imports find the exports of the others. Refuses, by name, what it does not know. */
export function createResolver(stacks: StackTemplate[], addresses: Addresses): Resolver {
  const known = new Map<string, Identity>()
  const underway = new Set<string>()
  const exports = collectExports(stacks)
  const generatedUrls = collectGeneratedUrls(stacks, addresses)

  const identify = (stack: StackTemplate, logicalId: string): Identity => {
    const path = `${stack.name}/${logicalId}`
    const found = known.get(path)
    if (found !== undefined) return found
    if (underway.has(path)) throw new StartupError(`cannot tell the name of ${path}: it depends on itself`)
    underway.add(path)
    const resource = stack.resources[logicalId]
    if (resource === undefined)
      throw new StartupError(`${stack.name} refers to ${logicalId}, which it does not have`)
    const identity = identities[resource.type]?.(
      {
        stackName: stack.name,
        logicalId,
        property: (name) => {
          const value = resource.properties[name]
          return value === undefined ? undefined : asText(resolve(stack, value), `${name} of ${path}`)
        },
      },
      addresses,
    )
    if (identity === undefined)
      throw new StartupError(`cannot tell the name of ${path}: ${resource.type} is unknown`)
    known.set(path, identity)
    underway.delete(path)
    return identity
  }

  const reference = (stack: StackTemplate, name: string): unknown => {
    const pseudo = pseudoParameter(name, stack, addresses)
    if (pseudo !== undefined) return pseudo
    const parameter = stack.parameters[name]
    if (parameter === undefined) return identify(stack, name).ref
    const { Default: value } = asProperties(parameter, name)
    if (value === undefined) throw new StartupError(`parameter ${name} of ${stack.name} has no default`)
    return value
  }

  const attribute = (stack: StackTemplate, logicalId: string, name: string): string => {
    const value = identify(stack, logicalId).attributes[name]
    if (value === undefined)
      throw new StartupError(`cannot tell attribute ${name} of ${stack.name}/${logicalId}`)
    return value
  }

  const importValue = (name: string): unknown => {
    const found = exports.get(name)
    if (found === undefined) throw new StartupError(`no stack exports ${name}`)
    return resolve(found.stack, found.value)
  }

  const substitute = (stack: StackTemplate, text: string, variables: Record<string, unknown>): string =>
    text.replaceAll(/\$\{(!?)([^}]+)\}/g, (whole, literal: string, name: string) => {
      if (literal !== '') return `\${${name}}`
      if (name in variables) return asText(resolve(stack, variables[name]), whole)
      const [logicalId = '', ...attributeName] = name.split('.')
      return asText(
        attributeName.length > 0
          ? attribute(stack, logicalId, attributeName.join('.'))
          : reference(stack, logicalId),
        whole,
      )
    })

  const intrinsics: Record<string, (stack: StackTemplate, argument: unknown) => unknown> = {
    Ref: (stack, argument) => reference(stack, asText(argument, 'Ref')),
    'Fn::GetAtt': (stack, argument) => {
      const [logicalId = '', ...name] =
        typeof argument === 'string'
          ? argument.split('.')
          : asList(argument, 'Fn::GetAtt').map((part) => asText(resolve(stack, part), 'Fn::GetAtt'))
      return attribute(stack, logicalId, name.join('.'))
    },
    'Fn::Join': (stack, argument) => {
      const [separator, parts] = asList(argument, 'Fn::Join')
      return asList(resolve(stack, parts), 'Fn::Join')
        .map((part) => asText(part, 'Fn::Join'))
        .join(asText(separator, 'Fn::Join'))
    },
    'Fn::Sub': (stack, argument) => {
      if (typeof argument === 'string') return substitute(stack, argument, {})
      const [text, variables] = asList(argument, 'Fn::Sub')
      return substitute(stack, asText(text, 'Fn::Sub'), asProperties(variables, 'Fn::Sub'))
    },
    'Fn::Select': (stack, argument) => {
      const [index, list] = asList(argument, 'Fn::Select')
      const chosen = asList(resolve(stack, list), 'Fn::Select')[Number(resolve(stack, index))]
      if (chosen === undefined) throw new StartupError(`Fn::Select of ${stack.name} is out of range`)
      return chosen
    },
    'Fn::Split': (stack, argument) => {
      const [separator, text] = asList(argument, 'Fn::Split')
      return asText(resolve(stack, text), 'Fn::Split').split(asText(separator, 'Fn::Split'))
    },
    'Fn::ImportValue': (stack, argument) => importValue(asText(resolve(stack, argument), 'Fn::ImportValue')),
    'Fn::If': (stack, argument) => {
      const [condition, whenTrue, whenFalse] = asList(argument, 'Fn::If')
      return resolve(stack, holds(stack, asText(condition, 'Fn::If')) ? whenTrue : whenFalse)
    },
    'Fn::FindInMap': (stack, argument) => {
      const keys = asList(argument, 'Fn::FindInMap').map((key) =>
        asText(resolve(stack, key), 'Fn::FindInMap'),
      )
      return keys.reduce<unknown>((map, key) => asProperties(map, 'Fn::FindInMap')[key], stack.mappings)
    },
    'Fn::GetAZs': () => [`${addresses.region}a`],
    'Fn::Base64': (stack, argument) =>
      Buffer.from(asText(resolve(stack, argument), 'Fn::Base64')).toString('base64'),
  }

  const holds = (stack: StackTemplate, name: string): boolean =>
    evaluateCondition(stack.conditions[name], {
      named: (other) => holds(stack, other),
      resolve: (value) => resolve(stack, value),
      where: `condition ${name} of ${stack.name}`,
    })

  function resolve(stack: StackTemplate, value: unknown): unknown {
    if (typeof value === 'string') return value
    if (Array.isArray(value))
      return value.map((item) => resolve(stack, item)).filter((item) => item !== noValue)
    if (!isProperties(value)) return value
    const [name, ...others] = Object.keys(value)
    if (name !== undefined && others.length === 0 && (name === 'Ref' || name.startsWith('Fn::'))) {
      const intrinsic = intrinsics[name]
      if (intrinsic === undefined)
        throw new StartupError(`${stack.name} uses ${name}, which the local stack does not know`)
      return localAddress(intrinsic(stack, value[name]), generatedUrls)
    }
    const members = Object.entries(value).map(([key, member]) => [key, resolve(stack, member)] as const)
    return Object.fromEntries(members.filter(([, member]) => member !== noValue))
  }

  return {
    resolve,
    activeResources: (stack) =>
      Object.entries(stack.resources).filter(
        ([, { condition }]) => condition === undefined || holds(stack, condition),
      ),
  }
}

/** `AWS::NoValue`: what holds it disappears. */
const noValue = Symbol('AWS::NoValue')

function pseudoParameter(name: string, stack: StackTemplate, addresses: Addresses): unknown {
  switch (name) {
    case 'AWS::Region':
      return addresses.region
    case 'AWS::AccountId':
      return addresses.accountId
    case 'AWS::Partition':
      return 'aws'
    case 'AWS::URLSuffix':
      return 'amazonaws.com'
    case 'AWS::StackName':
      return stack.name
    case 'AWS::StackId':
      return `arn:aws:cloudformation:${addresses.region}:${addresses.accountId}:stack/${stack.name}/local`
    case 'AWS::NotificationARNs':
      return []
    case 'AWS::NoValue':
      return noValue
    default:
      return undefined
  }
}

function collectExports(stacks: StackTemplate[]): Map<string, { stack: StackTemplate; value: unknown }> {
  return new Map(
    stacks.flatMap((stack) =>
      Object.entries(stack.outputs).flatMap(([id, output]) => {
        const { Export: exported, Value: value } = asProperties(output, id)
        if (exported === undefined) return []
        return [[asText(asProperties(exported, id).Name, `export of ${id}`), { stack, value }] as const]
      }),
    ),
  )
}

// Templates also spell an API's address out of its id: that address must lead here, too.
function collectGeneratedUrls(stacks: StackTemplate[], at: Addresses): Map<string, string> {
  return new Map(
    stacks.flatMap((stack) =>
      Object.entries(stack.resources)
        .filter(([, { type }]) => type === 'AWS::ApiGatewayV2::Api')
        .map(([logicalId]) => {
          const id = deriveApiId({ stackName: stack.name, logicalId })
          return [`https://${id}.execute-api.${at.region}.amazonaws.com`, at.apiUrl] as const
        }),
    ),
  )
}

function localAddress(value: unknown, generatedUrls: Map<string, string>): unknown {
  if (typeof value !== 'string') return value
  return [...generatedUrls].reduce((text, [generated, local]) => text.replaceAll(generated, local), value)
}
