import * as v from 'valibot'
import { refuse } from '../startup-error.ts'
import { Numeric, Policy, Tags, Text, Texts, Unknown } from './reader.ts'
import type { PolicyDocument, TemplateReader } from './reader.ts'

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
export function readFunctions(reader: TemplateReader, roles: RoleModel[]) {
  return reader
    .read('AWS::Lambda::Function', LambdaFunction)
    .map(({ id, ref, stack, attribute, properties }) => {
      const role = roles.find(({ arn }) => arn === properties.Role)
      const bundle = stack.assetPaths[properties.Code.S3Key ?? '']
      return {
        name: ref,
        arn: attribute('Arn'),
        /** Absolute path of the directory with the function's bundle. */
        codeDirectory: bundle ?? refuse(`${id} has no bundle among the assets of ${stack.name}`),
        /** Handler in the bundle as `FILE.EXPORT`, in Lambda's notation. */
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
export type FunctionModel = ReturnType<typeof readFunctions>[number]

/** Reads the event source mappings, which connect SQS queues to functions. */
export const readEventSources = (reader: TemplateReader, functions: FunctionModel[]) =>
  reader.read('AWS::Lambda::EventSourceMapping', EventSourceMapping).map(({ id, properties }) => {
    return {
      queueArn: properties.EventSourceArn,
      functionName: findFunction(functions, properties.FunctionName, id).name,
      batchSize: properties.BatchSize,
      maximumConcurrency: properties.ScalingConfig.MaximumConcurrency,
    }
  })
export type EventSourceModel = ReturnType<typeof readEventSources>[number]

/** Reads every IAM role with its policies. `assumable`: people can assume it, not only AWS services. */
export function readRoles(reader: TemplateReader) {
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
      /** Every policy document of the role, inline and attached. */
      policies: [...inline, ...others.map((policy) => policy.properties.PolicyDocument)],
      assumable: properties.AssumeRolePolicyDocument?.Statement.some(namesAccount) ?? false,
    }
  })
}
export type RoleModel = ReturnType<typeof readRoles>[number]

const namesAccount = ({ Principal: principal }: PolicyDocument['Statement'][number]): boolean =>
  v.is(v.looseObject({ AWS: v.unknown() }), principal)

/** Finds the function with this name or ARN. If there is none, throws an error that names `referrer`. */
export function findFunction(functions: FunctionModel[], reference: string, referrer: string): FunctionModel {
  const found = functions.find(({ name, arn }) => reference === arn || reference === name)
  return found ?? refuse(`${referrer} points to ${reference}, which is no function here`)
}
