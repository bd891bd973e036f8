import { Command, InvalidArgumentError } from 'commander'
import { quirkMeanings, parseQuirks, type QuirkOptions } from './quirks.ts'

/** The command-line options of the local stack. */
export interface LocalStackOptions {
  /** Port of the API; 0 chooses any free port. */
  port: number
  awsPort: number
  pagePort: number
  /** The https address of a proxy in front of the API's port, without a trailing slash. */
  publicUrl?: string | undefined
  /** Port of the sample app; undefined chooses 3002 or, if that is taken, any free port. */
  appPort?: number | undefined
  /** Directory for all data; if undefined, the data is deleted when the stack stops. */
  dataDirectory: string | undefined
  demo: boolean
  /** Values that `--set` gives to settings of infra/config.ts, keyed by setting name. */
  settings: Record<string, string>
  /** URL of a DynamoDB endpoint to use instead of starting DynamoDB Local. */
  dynamodbEndpoint?: string | undefined
  aws?: QuirkOptions | undefined
}

type Parsed = Omit<LocalStackOptions, 'dataDirectory' | 'settings'> & {
  data: string
  ephemeral: boolean
  set: Record<string, string>
}

/** Parses the command line. For --help or an invalid option, prints a message and ends the process. */
export function parseOptions(commandLine: string[]): LocalStackOptions {
  const { data, ephemeral, set, ...others } = new Command('npm start --')
    .description('Serves the synthesized stack on this machine.')
    .option('--port <port>', 'port of the API, 0 for any free one', parsePort, 3000)
    .option('--aws-port <port>', 'port of the AWS endpoint', parsePort, 4566)
    .option('--page-port <port>', 'port of the authorization page', parsePort, 3001)
    .option('--public-url <url>', 'https address of a proxy in front: issuer and page use it', parsePublicUrl)
    .option('--app-port <port>', 'port of the sample app (default: 3002, or any free one)', parsePort)
    .option('--data <directory>', 'where data is kept between runs', parseDirectory, '.local')
    .option('--ephemeral', 'keep nothing between runs', false)
    .option('--no-demo', 'start without the demo users')
    .option('--set <name=value>', 'override a setting of infra/config.ts (repeatable)', collectSetting, {})
    .option('--dynamodb-endpoint <url>', 'use this DynamoDB instead of starting one', parseEndpoint)
    .option('--aws <quirks>', describeOption(), parseQuirks)
    .allowExcessArguments(false)
    .parse(commandLine, { from: 'user' })
    .opts<Parsed>()
  return { ...others, dataDirectory: ephemeral ? undefined : data, settings: set }
}

function parsePort(text: string): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('not a port.')
  return port
}

/** Refuses an empty text, as of an unset variable: it would name the folder in which the command runs. */
function parseDirectory(text: string): string {
  if (text === '') throw new InvalidArgumentError('not a directory.')
  return text
}

function parseEndpoint(text: string): string {
  if (!URL.canParse(text) || !/^https?:/.test(text))
    throw new InvalidArgumentError('not an http or https URL.')
  return text.replace(/\/$/, '')
}

function parsePublicUrl(text: string): string {
  const url = URL.parse(text)
  if (url?.protocol !== 'https:' || !['', '/'].includes(text.slice(url.origin.length)))
    throw new InvalidArgumentError('not an https address without a path.')
  return url.origin
}

const describeOption = (): string =>
  `behave as badly as AWS: all, or some of ${Object.keys(quirkMeanings).join(', ')}, with seed=NUMBER and speed=NUMBER`

function collectSetting(text: string, settings: Record<string, string>): Record<string, string> {
  const [name = '', ...value] = text.split('=')
  if (name === '' || value.length === 0) throw new InvalidArgumentError('not of the form NAME=VALUE.')
  return { ...settings, [name]: value.join('=') }
}
