import { App } from 'aws-cdk-lib'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleDirectory, functionEntries } from '../bundle/functions.ts'
import { readConfig } from '../config.ts'
import { addStacks } from '../stacks/add-stacks.ts'
import { markdownTable } from './markdown.ts'

interface Statement {
  Effect: 'Allow' | 'Deny'
  Action: string | string[]
  Resource: unknown
  Condition?: Record<string, Record<string, string | string[]>>
}

interface Resource {
  Type: string
  Properties?: Record<string, unknown>
}

/** What a statement allows: one action on one resource, and the partitions or values that it names. */
interface Grant {
  action: string
  resource: string
  names: string[]
}

const reads = ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:Query', 'dynamodb:ConditionCheckItem']
const writes = ['dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem']
const puts = ['dynamodb:PutItem', 'dynamodb:UpdateItem']

/** What whoever captures a function could do by its grants, in words: what, by which action, on what. */
const powers: [what: string, actions: string[], on: RegExp][] = [
  ['issue tokens for any user', puts, /^TOKENS#/],
  ['read and change what signs a user in', puts, /^SIGNIN#/],
  ['read password digests and encrypted TOTP secrets', reads, /^SIGNIN#/],
  ['publish keys in the JWKS', puts, /^KEYS/],
  ['sign tokens', ['kms:Sign'], /./],
  ['create, disable and delete signing keys', ['kms:CreateKey'], /./],
  ['move money', puts, /^W#/],
  ['register clients', puts, /^CLIENT#/],
  ['issue authorization codes', puts, /^CODE#/],
  ['take addresses from users', puts, /^EMAIL#/],
  ['change rates', puts, /^RATES/],
  ['give out deposit addresses', puts, /^ADDRS?#/],
  ['end sessions', ['dynamodb:DeleteItem'], /^TOKENS#/],
  ['decrypt TOTP secrets that it knows', ['kms:Decrypt'], /TOTP/],
  ['test passwords, client secrets or events against their MAC', ['kms:GenerateMac'], /./],
  ['mail anyone as the service', ['ses:SendEmail'], /./],
  ['have a code or a warning mailed to anyone', ['events:PutEvents'], /mail/],
  ['read names and addresses of users', reads, /^(USER|MEMBER|TEXT|FIND|EMAIL)#/],
  ['read balances or bills', reads, /^(W|BL|BX)#/],
  ['read deposits, earnings or devices', reads, /^(DEP|DL|EARN|DEVICE)#/],
]

/**
 * Markdown table of what each function could do if somebody captured it, by its IAM policies as synthesized.
 * A grant that is added to a function changes this table.
 */
export async function describeReach(): Promise<string> {
  const functions = (await synthesizeResources()).flatMap(readFunctions)
  const rows = functions
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, grants }) => [
      `\`${name}\``,
      powersOf(grants).join('; ') || '–',
      keysOf(grants, reads),
      keysOf(grants, writes),
      othersOf(name, grants),
    ])
  return markdownTable(['function', 'captured, it could', 'reads', 'writes', 'and uses'], rows)
}

const powersOf = (grants: Grant[]): string[] =>
  powers
    .filter(([, actions, on]) =>
      grants.some(({ action, resource, names }) => {
        const objects = /^(dynamodb|events):/.test(action) ? names : [resource]
        return actions.includes(action) && objects.some((object) => on.test(object))
      }),
    )
    .map(([what]) => what)

const code = (names: string[]): string =>
  [...new Set(names)]
    .sort()
    .map((name) => `\`${name}\``)
    .join(' ')

const keysOf = (grants: Grant[], actions: string[]): string =>
  code(grants.filter(({ action }) => actions.includes(action)).flatMap(({ names }) => names))

/** What else a function may do, apart from its log, the queue that feeds it, and its dead letters. */
const othersOf = (name: string, grants: Grant[]): string => {
  const queue = `queue ${name.replace(/^intake-/, '')}`
  const own = [queue, `${queue}-dead-letters`]
  const others = grants.filter(
    ({ action, resource }) => !/^(dynamodb|logs):/.test(action) && !own.includes(resource),
  )
  const lines = [...Map.groupBy(others, ({ resource, names }) => [resource, ...names].join(' '))]
  return lines.map(([on, allowed]) => `${on}: ${code(allowed.map(({ action }) => action))}`).join('<br>')
}

/** Synthesizes a stage with its least configuration, and returns the resources of each of its stacks. */
async function synthesizeResources(): Promise<Record<string, Resource>[]> {
  // Synthesis needs the directories of the bundles, not what is in them.
  for (const entry of functionEntries()) mkdirSync(bundleDirectory(entry), { recursive: true })
  const outdir = mkdtempSync(join(tmpdir(), 'reach-'))
  try {
    const context = { 'aws:cdk:disable-asset-staging': true }
    const app = new App({
      outdir,
      context,
      analyticsReporting: false,
      builtinCloudFormationValidation: false,
    })
    const page = { authUrl: 'https://auth.example.com/', mailFrom: 'no-reply@example.com' }
    await addStacks(app, readConfig({ ...page, stage: 'prod' }))
    const { stacks } = app.synth()
    return stacks.map((stack) => (stack.template as { Resources: Record<string, Resource> }).Resources)
  } finally {
    rmSync(outdir, { recursive: true })
  }
}

function readFunctions(resources: Record<string, Resource>): { name: string; grants: Grant[] }[] {
  const ofType = (type: string) => Object.values(resources).filter(({ Type }) => Type === type)
  const policies = ofType('AWS::IAM::Policy').map(({ Properties }) => ({
    roles: JSON.stringify(Properties?.['Roles']),
    statements: (Properties?.['PolicyDocument'] as { Statement: Statement[] }).Statement,
  }))
  return ofType('AWS::Lambda::Function').map(({ Properties }) => {
    const role = (Properties?.['Role'] as { 'Fn::GetAtt': [string] })['Fn::GetAtt'][0]
    const statements = policies.filter(({ roles }) => roles.includes(`"${role}"`))
    return {
      name: String(Properties?.['FunctionName']).replace('account-service-prod-', ''),
      grants: statements.flatMap((policy) => policy.statements).flatMap((one) => toGrants(one, resources)),
    }
  })
}

function toGrants(
  { Effect, Action, Resource, Condition }: Statement,
  resources: Record<string, Resource>,
): Grant[] {
  if (Effect !== 'Allow') return []
  const names = [
    Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'] ?? [],
    Condition?.['StringEquals']?.['events:detail-type'] ?? [],
    Condition?.['StringEquals']?.['ses:FromAddress'] ?? [],
  ].flat()
  const resource = nameOf(Resource, resources)
  return [Action].flat().map((action) => ({ action, resource, names }))
}

/** Names of the resources that other stacks export, by a part of the reference. */
const exported: [part: string, name: string][] = [
  ['MacKey', 'MAC key'],
  ['TotpKey', 'TOTP key'],
  ['EventKey', 'event key'],
  [':key/*', 'signing keys'],
  ['identity/', 'SES'],
  ['Table', 'table'],
  ['Bus', 'bus'],
  ['"*"', 'KMS'],
]

function nameOf(reference: unknown, resources: Record<string, Resource>): string {
  const text = JSON.stringify(reference)
  const [id] = (reference as { 'Fn::GetAtt'?: [string] })['Fn::GetAtt'] ?? []
  const queue = id === undefined ? undefined : resources[id]?.Properties?.['QueueName']
  if (typeof queue === 'string') return `queue ${queue.replace('account-service-prod-', '')}`
  const name = exported.find(([part]) => text.includes(part))?.[1]
  return name ?? (text.includes('log') || text.includes('Logs') ? 'its log' : `\`${text}\``)
}
