import { environmentName, Settings } from '../../../shared/settings.ts'
import type { AwsEndpoint } from '../aws/server.ts'
import type { StackModel } from '../model.ts'

/** The description of the running stack, as the console shows it. */
export type StackDescription = ReturnType<typeof describeStack>

/** Describes the running stack: outputs of the template, or local values where an output is missing. */
export function describeStack(
  { outputs, buses, tables, functions, routes, region }: StackModel,
  aws: Pick<AwsEndpoint, 'url' | 'queues'>,
  { logFile, ...urls }: { baseUrl: string; pageUrl: string; appUrl: string; logFile: string },
) {
  // The settings are read from the first function, because all functions have the same ones.
  const environment = functions[0]?.environment ?? {}
  const settings = Object.keys(Settings.entries).map((name) => [name, environment[environmentName(name)]])
  const deadLetterQueues = aws.queues().filter(({ isDeadLetterQueue }) => isDeadLetterQueue)
  return {
    base_url: outputs.BaseUrl ?? urls.baseUrl,
    auth_url: outputs.AuthUrl ?? `${urls.pageUrl}/`,
    app_url: urls.appUrl,
    aws_endpoint: aws.url,
    region,
    event_bus: outputs.EventBusName ?? buses.at(-1)?.name ?? 'default',
    dead_letter_queues: deadLetterQueues.map(({ name, url }) => ({ name, url })),
    table: outputs.TableName ?? tables[0]?.name ?? '',
    first_party_client_id: outputs.FirstPartyClientId ?? '',
    auditor_role_arn: outputs.AuditorRoleArn ?? '',
    functions: functions.map(({ name }) => {
      const served = routes.filter(({ functionName }) => functionName === name)
      return { name, route: served.map(({ routeKey }) => routeKey).join(', ') || undefined }
    }),
    settings: Object.fromEntries(settings) as Record<string, string | undefined>,
    log_file: logFile,
  }
}
