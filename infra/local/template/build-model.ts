import type { CloudAssembly } from 'aws-cdk-lib/cx-api'
import type { StackModel } from '../model.ts'
import type { Addresses } from './identity.ts'
import { readCors, readRoutes } from './read-api.ts'
import { readStackTemplates } from './read-assembly.ts'
import { readKeys, readTables } from './read-data.ts'
import { readBuses, readRules } from './read-events.ts'
import { readEventSources, readFunctions } from './read-functions.ts'
import { readQueues } from './read-queues.ts'
import { readAssumableRoles, readRolePolicies } from './read-roles.ts'
import { createTemplateReader } from './template-reader.ts'

const servedTypes = [
  'AWS::ApiGatewayV2::Api',
  'AWS::ApiGatewayV2::Integration',
  'AWS::ApiGatewayV2::Route',
  'AWS::DynamoDB::GlobalTable',
  'AWS::DynamoDB::Table',
  'AWS::Events::EventBus',
  'AWS::Events::Rule',
  'AWS::IAM::Role',
  'AWS::KMS::Key',
  'AWS::Lambda::Alias',
  'AWS::Lambda::EventSourceMapping',
  'AWS::Lambda::Function',
  'AWS::Lambda::Version',
  'AWS::SQS::Queue',
  'AWS::Scheduler::Schedule',
] as const

/**
 * What a synthesized stage would be once deployed, with the local addresses in place of AWS's.
 * Throws a `StartupError` naming every resource or intrinsic function that the local stack cannot serve.
 */
export function buildStackModel(assembly: CloudAssembly, addresses: Addresses): StackModel {
  const reader = createTemplateReader(readStackTemplates(assembly), addresses, servedTypes)
  const policies = readRolePolicies(reader)
  const functions = readFunctions(reader, policies)
  return {
    region: addresses.region,
    accountId: addresses.accountId,
    functions,
    roles: readAssumableRoles(reader, policies),
    routes: readRoutes(reader, functions),
    cors: readCors(reader),
    tables: readTables(reader),
    keys: readKeys(reader),
    queues: readQueues(reader),
    eventSources: readEventSources(reader, functions),
    buses: readBuses(reader),
    rules: readRules(reader),
    outputs: reader.outputs(),
  }
}
