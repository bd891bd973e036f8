import { Command, InvalidArgumentError } from 'commander'

/** How to start the local stack. */
export interface LocalStackOptions {
  /** Port of the API; 0 for any free one. So are the others. */
  port: number
  awsPort: number
  pagePort: number
  /** Where everything is kept; undefined keeps it for this run only. */
  dataDirectory: string | undefined
  demo: boolean
  /** Knobs of infra/config.ts, by name. */
  settings: Record<string, string>
  /** A DynamoDB to use in place of one of our own. */
  dynamodbEndpoint: string | undefined
}

/** Reads the command line; prints the help, or a complaint and exits, by itself. */
export function parseOptions(commandLine: string[]): LocalStackOptions {
  const command = new Command('npm start --')
    .description('Serves the synthesized stack on this machine.')
    .option('--port <port>', 'port of the API, 0 for any free one', parsePort, 3000)
    .option('--aws-port <port>', 'port of the AWS endpoint', parsePort, 4566)
    .option('--page-port <port>', 'port of the authorization page', parsePort, 3001)
    .option('--data <directory>', 'where data is kept between runs', '.local')
    .option('--ephemeral', 'keep nothing between runs', false)
    .option('--no-demo', 'start without the demo users')
    .option('--set <name=value>', 'override a setting of infra/config.ts (repeatable)', collectSetting, {})
    .option('--dynamodb-endpoint <url>', 'use this DynamoDB instead of starting one', parseEndpoint)
    .allowExcessArguments(false)
    .parse(commandLine, { from: 'user' })
  const chosen = command.opts<{
    port: number
    awsPort: number
    pagePort: number
    data: string
    ephemeral: boolean
    demo: boolean
    set: Record<string, string>
    dynamodbEndpoint?: string
  }>()
  return {
    port: chosen.port,
    awsPort: chosen.awsPort,
    pagePort: chosen.pagePort,
    dataDirectory: chosen.ephemeral ? undefined : chosen.data,
    demo: chosen.demo,
    settings: chosen.set,
    dynamodbEndpoint: chosen.dynamodbEndpoint,
  }
}

function parsePort(text: string): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('not a port.')
  return port
}

function parseEndpoint(text: string): string {
  if (!URL.canParse(text) || !/^https?:/.test(text))
    throw new InvalidArgumentError('not an http or https URL.')
  return text.replace(/\/$/, '')
}

function collectSetting(text: string, settings: Record<string, string>): Record<string, string> {
  const equals = text.indexOf('=')
  if (equals < 1) throw new InvalidArgumentError('not of the form NAME=VALUE.')
  return { ...settings, [text.slice(0, equals)]: text.slice(equals + 1) }
}
