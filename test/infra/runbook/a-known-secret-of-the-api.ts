import { randomUUID } from 'node:crypto'
import { get } from 'node:http'
import { expect } from 'vitest'
import { originSecretHeader } from '../../../shared/http/middleware/require-edge.ts'
import type { LocalStack } from '../../../infra/local/local-stack.ts'
import type { StackTemplate } from '../../../infra/local/template/stack-templates.ts'
import { bearer } from '../../support/oauth-clients.ts'
import { deployFunctions } from './own-stack.ts'
import type { People } from './people.ts'
import { sectionOf } from './read-runbook.ts'

const edge = {
  edge: true,
  // Without a domain the API's address would be that of the distribution, which AWS assigns.
  domainName: 'api.example.com',
  certificateArn: 'arn:aws:acm:us-east-1:000000000000:certificate/edge',
}

/**
 * Rehearses the rotation of the edge's secret with the functions and the distribution of the templates. What
 * CloudFront and Secrets Manager do is done here: requests carry what the distribution says, and a secret
 * keeps its value as long as the templates have it.
 */
export async function aKnownSecretOfTheApi(stack: LocalStack, people: People): Promise<void> {
  expect(sectionOf('A known address or secret of the API')).toContain('`edgeSecretNumber`')
  const { accessToken } = await people.signIn()
  const values = new Map<string, string>()
  const deploy = async (edgeSecretNumber: number): Promise<string> => {
    let sent = ''
    await deployFunctions(stack, { ...edge, edgeSecretNumber }, (templates) => {
      const resolved = templates.map((template) => resolveSecrets(template, values))
      sent = findSentSecret(resolved)
      return resolved
    })
    return sent
  }
  // Not by fetch, whose answers are compared with the API reference: that describes the address of the edge.
  const ask = (secret: string | undefined): Promise<number | undefined> => {
    const headers = {
      ...bearer(accessToken),
      'cloudfront-viewer-address': '203.0.113.7:443',
      ...(secret === undefined ? {} : { [originSecretHeader]: secret }),
    }
    return new Promise((resolve, reject) => {
      const request = get(`${stack.baseUrl}/account/info`, { headers }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      request.on('error', reject)
    })
  }
  try {
    const known = await deploy(1)
    expect(await Promise.all([ask(known), ask('a guess'), ask(undefined)])).toEqual([200, 403, 403])
    const second = await deploy(2)
    expect(second).not.toBe(known)
    // CloudFront may send either while it changes.
    expect(await Promise.all([ask(known), ask(second)])).toEqual([200, 200])
    const third = await deploy(3)
    expect(await Promise.all([ask(known), ask(second), ask(third)])).toEqual([403, 200, 200])
    // A deployment that is rolled back takes the functions back, while CloudFront may still send the newest.
    await deploy(2)
    expect(await ask(third)).toBe(200)
  } finally {
    await deployFunctions(stack, {})
  }
  expect(await ask(undefined)).toBe(200)
}

/** Puts values in the place of a template's references to Secrets Manager, and leaves its secrets out. */
function resolveSecrets(template: StackTemplate, values: Map<string, string>): StackTemplate {
  const isSecret = ({ Type }: { Type: string }) => Type === 'AWS::SecretsManager::Secret'
  const valueOf = (logicalId: string): unknown => {
    const { SecretString: made } = template.Resources[logicalId]?.Properties ?? {}
    if (made !== undefined) return resolve(made)
    const value = values.get(logicalId) ?? randomUUID()
    values.set(logicalId, value)
    return value
  }
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve)
    if (typeof value !== 'object' || value === null) return value
    const logicalId = referredSecret(value)
    if (logicalId !== undefined) return valueOf(logicalId)
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, resolve(member)]))
  }
  const others = Object.entries(template.Resources).filter(([, resource]) => !isSecret(resource))
  return { ...template, Resources: resolve(Object.fromEntries(others)) as StackTemplate['Resources'] }
}

/** The logical id of the secret that a dynamic reference names: `{{resolve:secretsmanager:…}}`. */
function referredSecret(value: object): string | undefined {
  const { 'Fn::Join': join } = value as { 'Fn::Join'?: [string, unknown[]] }
  const [start, reference] = join?.[1] ?? []
  return start === '{{resolve:secretsmanager:' ? (reference as { Ref: string }).Ref : undefined
}

/** The secret that the distribution of the templates sends to the API. */
function findSentSecret(templates: StackTemplate[]): string {
  const resources = templates.flatMap(({ Resources }) => Object.values(Resources))
  const distributions = resources.filter(({ Type }) => Type === 'AWS::CloudFront::Distribution')
  const header = new RegExp(`"HeaderName":"${originSecretHeader}","HeaderValue":"([^"]+)"`)
  const [, sent] = header.exec(JSON.stringify(distributions)) ?? []
  return sent ?? expect.unreachable('no distribution sends a secret')
}
