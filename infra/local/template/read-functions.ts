import { StartupError } from '../startup-error.ts'
import type { EventSourceModel, FunctionModel, PolicyDocument } from '../model.ts'
import type { ResolvedResource, TemplateReader } from './template-reader.ts'
import { asFlag, asList, asNumber, asProperties, asText, asTexts, isProperties } from './values.ts'

/** The functions of the stage, without those that only serve a deployment (providers of custom resources). */
export function readFunctions(
  reader: TemplateReader,
  policies: Map<string, PolicyDocument[]>,
): FunctionModel[] {
  const providers = findCustomResourceProviders(reader)
  return reader
    .ofType('AWS::Lambda::Function')
    .filter((resource) => !providers.has(resource.id))
    .map((resource) => {
      const { properties, where } = resource
      const roleArn = asText(properties.Role, where('Role'))
      const environment = asProperties(properties.Environment, where('Environment'))
      const { ReservedConcurrentExecutions: reserved, Layers: layers } = properties
      if (asList(layers, where('Layers')).length > 0)
        throw new StartupError(`${resource.id} has layers, which the local stack does not know`)
      return {
        logicalId: resource.id,
        name: resource.ref,
        arn: resource.attribute('Arn'),
        codeDirectory: codeDirectoryOf(resource),
        handler: asText(properties.Handler, where('Handler')),
        environment: readEnvironment(asProperties(environment.Variables, where('Environment'))),
        timeoutSeconds: asNumber(properties.Timeout, where('Timeout'), 3),
        memoryMegabytes: asNumber(properties.MemorySize, where('MemorySize'), 128),
        reservedConcurrency: reserved === undefined ? undefined : asNumber(reserved, where('Concurrency'), 0),
        roleArn,
        policies: policies.get(roleArn) ?? [],
      }
    })
}

/** The queues that functions are fed from. */
export function readEventSources(reader: TemplateReader, functions: FunctionModel[]): EventSourceModel[] {
  return reader.ofType('AWS::Lambda::EventSourceMapping').map(({ properties, where, id }) => {
    const reference = asText(properties.FunctionName, where('FunctionName'))
    const source = asText(properties.EventSourceArn, where('EventSourceArn'))
    if (!source.startsWith('arn:aws:sqs:')) throw new StartupError(`${id} reads ${source}, which is no queue`)
    if (properties.FilterCriteria !== undefined)
      throw new StartupError(`${id} filters its messages, which the local stack does not know`)
    const { ScalingConfig: scaling, Enabled: enabled } = properties
    const maximum = asProperties(scaling, where('ScalingConfig')).MaximumConcurrency
    return {
      queueArn: source,
      functionLogicalId: findFunction(functions, reference, id).logicalId,
      batchSize: asNumber(properties.BatchSize, where('BatchSize'), 10),
      batchingWindowSeconds: asNumber(properties.MaximumBatchingWindowInSeconds, where('BatchingWindow'), 0),
      maximumConcurrency: maximum === undefined ? undefined : asNumber(maximum, where('ScalingConfig'), 2),
      reportBatchItemFailures: asTexts(properties.FunctionResponseTypes, where('ResponseTypes')).includes(
        'ReportBatchItemFailures',
      ),
      enabled: enabled === undefined || asFlag(enabled),
    }
  })
}

/** The function that a name or an ARN, with or without a version or an alias, points to. */
export function findFunction(functions: FunctionModel[], reference: string, referrer: string): FunctionModel {
  const bare = reference.replace(/:function:([^:]+):[^:]+$/, ':function:$1')
  const found = functions.find(
    ({ name, arn }) => bare === arn || bare === name || bare.startsWith(`${name}:`),
  )
  if (found === undefined)
    throw new StartupError(`${referrer} points to ${reference}, which is no function here`)
  return found
}

const readEnvironment = (variables: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, asText(value, name)]))

function codeDirectoryOf({ properties, stack, id, where }: ResolvedResource): string {
  const { S3Key: key } = asProperties(properties.Code, where('Code'))
  const path = key === undefined ? undefined : stack.assetPaths.get(asText(key, where('Code')))
  if (path === undefined) throw new StartupError(`${id} has no bundle among the assets of ${stack.name}`)
  return path
}

// Looked for in the raw templates: their properties need not be resolvable here.
function findCustomResourceProviders(reader: TemplateReader): Set<string> {
  return new Set(
    reader.stacks.flatMap((stack) =>
      Object.values(stack.resources)
        .filter(({ type }) => type.startsWith('Custom::') || type === 'AWS::CloudFormation::CustomResource')
        .flatMap(({ properties: { ServiceToken: token } }) => {
          const target = isProperties(token) ? token['Fn::GetAtt'] : undefined
          return Array.isArray(target) ? [`${stack.name}/${asText(target[0], 'ServiceToken')}`] : []
        }),
    ),
  )
}
