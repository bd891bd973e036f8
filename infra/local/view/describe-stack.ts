import { environmentName, Settings } from '../../../shared/settings.ts'
import type { AwsEndpoint } from '../aws/server.ts'
import type { StackModel } from '../model.ts'

/** The public description of what runs, the same that a deployment's outputs give. */
export interface StackDescription {
  base_url: string
  auth_url: string
  aws_endpoint: string
  event_bus: string
  dead_letter_queues: { name: string; url: string }[]
  table: string
  first_party_client_id: string
  /** The role that audits the signing keys; STS lets it be taken on. */
  auditor_role_arn: string
  functions: { name: string; route?: string }[]
  /** Every setting that the functions run with, by name. */
  settings: Record<string, string>
}

/** Describes the running stack; what the template's outputs name comes from there. */
export function describeStack(
  model: StackModel,
  aws: Pick<AwsEndpoint, 'url' | 'queues'>,
  urls: { baseUrl: string; pageUrl: string },
): StackDescription {
  const { outputs } = model
  return {
    base_url: outputs.BaseUrl ?? urls.baseUrl,
    auth_url: outputs.AuthUrl ?? `${urls.pageUrl}/`,
    aws_endpoint: aws.url,
    event_bus: outputs.EventBusName ?? model.buses.at(-1)?.name ?? 'default',
    dead_letter_queues: aws
      .queues()
      .filter(({ isDeadLetterQueue }) => isDeadLetterQueue)
      .map(({ name, url }) => ({ name, url })),
    table: outputs.TableName ?? model.tables[0]?.name ?? '',
    first_party_client_id: outputs.FirstPartyClientId ?? '',
    auditor_role_arn: outputs.AuditorRoleArn ?? '',
    functions: model.functions.map(({ name, logicalId }) => {
      const served = model.routes.filter(({ functionLogicalId }) => functionLogicalId === logicalId)
      return served.length === 0
        ? { name }
        : { name, route: served.map(({ routeKey }) => routeKey).join(', ') }
    }),
    settings: readSettings(model),
  }
}

/** Every function runs with the same settings, so any of them tells them. */
function readSettings(model: StackModel): Record<string, string> {
  const environment = model.functions[0]?.environment ?? {}
  return Object.fromEntries(
    Object.keys(Settings.entries).flatMap((name) => {
      const value = environment[environmentName(name)]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}
