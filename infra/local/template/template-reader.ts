import { StartupError } from '../startup-error.ts'
import { type Addresses, identities, type Identity } from './identity.ts'
import { isIgnored } from './known-types.ts'
import type { StackTemplate } from './read-assembly.ts'
import { createResolver } from './resolve.ts'
import { asText, type Properties } from './values.ts'

/** A resource of a served type, with every intrinsic of its properties resolved. */
export interface ResolvedResource {
  stack: StackTemplate
  /** `STACK/LOGICALID`: logical ids alone repeat between stacks. */
  id: string
  type: string
  properties: Properties
  ref: string
  /** An attribute that `Fn::GetAtt` would give; empty where the type has none of that name. */
  attribute: (name: string) => string
  /** `PROPERTY of ID`, for the message of a refusal. */
  where: (property: string) => string
}

/** All stacks of a stage, read as one. */
export interface TemplateReader {
  addresses: Addresses
  stacks: StackTemplate[]
  /** Resources of these types, in the order of the templates. */
  ofType: (...types: string[]) => ResolvedResource[]
  /** The value of every output of every stack whose value can be told. */
  outputs: () => Record<string, string>
}

/** Opens the stacks for reading and refuses, naming them, types that are neither served nor known to be irrelevant. */
export function createTemplateReader(
  stacks: StackTemplate[],
  addresses: Addresses,
  servedTypes: readonly string[],
): TemplateReader {
  const resolver = createResolver(stacks, addresses)
  const active = stacks.flatMap((stack) =>
    resolver.activeResources(stack).map(([logicalId, resource]) => ({ stack, logicalId, resource })),
  )
  const unknown = active.filter(
    ({ resource }) => !servedTypes.includes(resource.type) && !isIgnored(resource.type),
  )
  if (unknown.length > 0) {
    const names = unknown.map(
      ({ stack, logicalId, resource }) => `${stack.name}/${logicalId} (${resource.type})`,
    )
    throw new StartupError(`the local stack cannot serve ${names.join(', ')}`)
  }

  return {
    addresses,
    stacks,
    ofType: (...types) =>
      active
        .filter(({ resource }) => types.includes(resource.type))
        .map(({ stack, logicalId, resource }) => {
          const properties = resolver.resolve(stack, resource.properties) as Properties
          const identity = identify(stack, logicalId, resource.type, properties, addresses)
          return {
            stack,
            id: `${stack.name}/${logicalId}`,
            type: resource.type,
            properties,
            ref: identity.ref,
            attribute: (name) => identity.attributes[name] ?? '',
            where: (property) => `${property} of ${stack.name}/${logicalId}`,
          }
        }),
    outputs: () =>
      Object.fromEntries(
        stacks.flatMap((stack) =>
          Object.entries(stack.outputs)
            .filter(([, output]) => !isBetweenStacks(output))
            .flatMap(([name, output]) => {
              const value = tellable(() => resolver.resolve(stack, (output as Properties).Value))
              return value === undefined ? [] : [[name, asText(value, `output ${name} of ${stack.name}`)]]
            }),
        ),
      ),
  }
}

function identify(
  stack: StackTemplate,
  logicalId: string,
  type: string,
  properties: Properties,
  addresses: Addresses,
): Identity {
  const property = (name: string) => {
    const value = properties[name]
    return value === undefined ? undefined : asText(value, `${name} of ${stack.name}/${logicalId}`)
  }
  return (
    identities[type]?.({ stackName: stack.name, logicalId, property }, addresses) ?? {
      ref: '',
      attributes: {},
    }
  )
}

// An output may speak of what the local stack leaves out, such as a distribution's domain name.
function tellable(resolve: () => unknown): unknown {
  try {
    return resolve()
  } catch (error) {
    if (error instanceof StartupError) return undefined
    throw error
  }
}

// What CDK exports only to hand a value to another stack is no answer to anybody outside.
function isBetweenStacks(output: unknown): boolean {
  const exported = (output as { Export?: { Name?: unknown } }).Export?.Name
  return typeof exported === 'string' && exported.includes(':ExportsOutput')
}
