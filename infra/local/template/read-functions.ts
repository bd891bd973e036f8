import * as v from 'valibot'
import type { EventSourceModel, FunctionModel, PolicyDocument, RoleModel } from '../model.ts'
import { refuse } from '../startup-error.ts'
import { Numeric, Policy, Tags, type TemplateReader, Text, Texts, Unknown } from './reader.ts'

const LambdaFunction = v.object({
  Role: Text,
  Handler: Text,
  Code: v.object({ S3Key: v.optional(Text) }),
  Environment: v.optional(v.object({ Variables: v.optional(v.record(v.string(), Text), {}) })),
  Timeout: v.optional(Numeric, 3),
  MemorySize: v.optional(Numeric, 128),
  ReservedConcurrentExecutions: Unknown,
  Layers: Unknown,
})

const EventSourceMapping = v.object({
  FunctionName: Text,
  EventSourceArn: v.pipe(v.string(), v.startsWith('arn:aws:sqs:')),
  FilterCriteria: Unknown,
  ScalingConfig: v.object({ MaximumConcurrency: Numeric }),
  BatchSize: Numeric,
  MaximumBatchingWindowInSeconds: Unknown,
  FunctionResponseTypes: v.tuple([v.literal('ReportBatchItemFailures')]),
  Enabled: Unknown,
})

const Role = v.object({
  AssumeRolePolicyDocument: v.optional(Policy),
  Policies: v.optional(v.array(v.object({ PolicyDocument: Policy })), []),
  ManagedPolicyArns: Texts,
  Tags,
})

const AttachedPolicy = v.object({ PolicyDocument: Policy, Roles: Texts })

/** AWS managed policies that are ignored, because every local function can write logs and traces anyway. */
const harmlessManagedPolicies = /\/(AWSLambdaBasicExecutionRole|AWSXRayDaemonWriteAccess)$/

/** Reads the Lambda functions of the stage. */
export function readFunctions(reader: TemplateReader, roles: RoleModel[]): FunctionModel[] {
  return reader
    .read('AWS::Lambda::Function', LambdaFunction)
    .map(({ id, ref, stack, attribute, properties }) => {
      const role = roles.find(({ arn }) => arn === properties.Role)
      const bundle = stack.assetPaths[properties.Code.S3Key ?? '']
      return {
        name: ref,
        arn: attribute('Arn'),
        codeDirectory: bundle ?? refuse(`${id} has no bundle among the assets of ${stack.name}`),
        handler: properties.Handler,
        environment: properties.Environment?.Variables ?? {},
        timeoutSeconds: properties.Timeout,
        memoryMegabytes: properties.MemorySize,
        roleArn: properties.Role,
        roleTags: role?.tags ?? {},
        policies: role?.policies ?? [],
      }
    })
}

/** Reads the event source mappings, from SQS queues to functions. */
export const readEventSources = (reader: TemplateReader, functions: FunctionModel[]): EventSourceModel[] =>
  reader.read('AWS::Lambda::EventSourceMapping', EventSourceMapping).map(({ id, properties }) => {
    return {
      queueArn: properties.EventSourceArn,
      functionName: findFunction(functions, properties.FunctionName, id).name,
      batchSize: properties.BatchSize,
      maximumConcurrency: properties.ScalingConfig.MaximumConcurrency,
    }
  })

/** Reads every IAM role with its policies. `assumable`: people can assume it, not only AWS services. */
export function readRoles(reader: TemplateReader): (RoleModel & { assumable: boolean })[] {
  const attached = [
    ...reader.read('AWS::IAM::Policy', AttachedPolicy),
    ...reader.read('AWS::IAM::ManagedPolicy', AttachedPolicy),
  ]
  return reader.read('AWS::IAM::Role', Role).map(({ id, ref, attribute, properties }) => {
    const unknown = properties.ManagedPolicyArns.filter((arn) => !harmlessManagedPolicies.test(arn))
    if (unknown.length > 0) refuse(`the local stack does not know what ${unknown.join(', ')} of ${id} grants`)
    const inline: PolicyDocument[] = properties.Policies.map(({ PolicyDocument: document }) => document)
    const others = attached.filter((policy) => policy.properties.Roles.includes(ref))
    return {
      name: ref,
      arn: attribute('Arn'),
      tags: properties.Tags,
      policies: [...inline, ...others.map((policy) => policy.properties.PolicyDocument)],
      assumable: properties.AssumeRolePolicyDocument?.Statement.some(namesAccount) ?? false,
    }
  })
}

const namesAccount = ({ Principal: principal }: PolicyDocument['Statement'][number]): boolean =>
  v.is(v.looseObject({ AWS: v.unknown() }), principal)

/** Finds a function by name or ARN; an error names the `referrer`. */
export function findFunction(functions: FunctionModel[], reference: string, referrer: string): FunctionModel {
  const found = functions.find(({ name, arn }) => reference === arn || reference === name)
  return found ?? refuse(`${referrer} points to ${reference}, which is no function here`)
}
