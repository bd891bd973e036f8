import type { buildStackModel } from './template/build-model.ts'

/**
 * What the local stack serves: the synthesized templates with every intrinsic function resolved. Field names
 * follow CloudFormation where possible. The files under template/ describe the fields that they read.
 */
export type StackModel = ReturnType<typeof buildStackModel>

export type { RouteModel } from './template/read-api.ts'
export type {
  ArchiveModel,
  KeyModel,
  QueueModel,
  RuleModel,
  RuleTarget,
  TableModel,
} from './template/read-data-and-events.ts'
export type { EventSourceModel, FunctionModel, RoleModel } from './template/read-functions.ts'
export type { PolicyDocument, PolicyStatement } from './template/reader.ts'
