import type { Addresses } from './names.ts'
import { readApi, readRoutes } from './read-api.ts'
import {
  readArchives,
  readBuses,
  readKeys,
  readQueues,
  readRules,
  readTables,
} from './read-data-and-events.ts'
import { readEventSources, readFunctions, readRoles } from './read-functions.ts'
import { TemplateReader } from './reader.ts'
import type { StackTemplate } from './stack-templates.ts'

/** Builds the local stack's model of a stage. Throws a `StartupError` for what the stack does not support. */
export function buildStackModel(templates: StackTemplate[], addresses: Addresses) {
  const { region, accountId } = addresses
  const reader = new TemplateReader(templates, addresses)
  const roles = readRoles(reader)
  const functions = readFunctions(reader, roles)
  const model = {
    region,
    accountId,
    functions,
    /** IAM roles that people assume, such as the auditor's. */
    roles: roles.filter(({ assumable }) => assumable),
    routes: readRoutes(reader, functions),
    ...readApi(reader),
    tables: readTables(reader),
    keys: readKeys(reader),
    queues: readQueues(reader),
    eventSources: readEventSources(reader, functions),
    buses: [
      {
        name: 'default',
        arn: `arn:aws:events:${region}:${accountId}:event-bus/default`,
        policy: { Statement: [] },
      },
      ...readBuses(reader),
    ],
    rules: readRules(reader),
    archives: readArchives(reader),
    outputs: reader.outputs(),
  }
  reader.refuseUnknown()
  return model
}
